#include "source_list.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "../../core/printable.hpp"
#include "json_node.hpp"

namespace chorale::simulation {

void source_list::add(std::string parameter, std::string value, std::string source, int line) {
  bool cites = false;
  std::string_view rest = source;
  for (auto open = rest.find('['); open != rest.npos; open = rest.find('[')) {
    rest.remove_prefix(open + 1);
    const auto key = rest.substr(0, rest.find(']'));
    if (std::find(keys_.begin(), keys_.end(), key) == keys_.end())
      throw json_fault{line, fmt::format("the source of \"{}\" cites [{}], which \"sources\" does not have",
                                         parameter, printable(key, 64))};
    cites = true;
  }
  constexpr std::string_view reason = "estimate: ";
  if (!cites && (!source.starts_with(reason) || source.size() == reason.size()))
    throw json_fault{line, fmt::format("the source of \"{}\" is no source: it has to cite one of \"sources\" "
                                       "in square brackets, or to be \"estimate: \" and a reason",
                                       parameter)};
  noted_.push_back({std::move(parameter), std::move(value), std::move(source)});
}

}  // namespace chorale::simulation
