#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/simulation/machine/machine.hpp>

#include "../../core/printable.hpp"
#include "shipped.hpp"

namespace chorale::simulation {
namespace {

std::string text_of(const std::string& file) {
  errno = 0;
  std::ifstream in{file, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  if (in.good() || in.eof()) return text;
  // What the stream does not tell is that the name is a folder's.
  const int why = errno != 0 ? errno : EISDIR;
  throw error(
      errc::invalid_argument,
      fmt::format("machine '{}' is none that comes with the library ({}), and no file that can be read: "
                  "{} (docs/machines.md)",
                  printable(file), fmt::join(machine_names(), ", "), std::strerror(why)));
}

}  // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const auto& one : shipped_machines()) names.emplace_back(one.name);
  return names;
}

machine read_machine(const std::string& name) {
  for (const auto& one : shipped_machines())
    if (one.name == name) return parse_machine(one.text, name + ".json");
  return parse_machine(text_of(name), name);
}

}  // namespace chorale::simulation
