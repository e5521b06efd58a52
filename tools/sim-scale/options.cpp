#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

namespace sim_scale {
namespace {

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <class Number>
std::vector<Number> numbers_of(const std::string& option, const std::string& text, Number least) {
  std::vector<Number> all;
  for (const auto& part : parts_of(text)) {
    Number number{};
    const auto read = std::from_chars(part.data(), part.data() + part.size(), number);
    if (read.ec != std::errc{} || read.ptr != part.data() + part.size() || number < least)
      throw std::runtime_error(
          fmt::format("{} {}: '{}' is no whole number from {} on", option, text, part, least));
    all.push_back(number);
  }
  return all;
}

}  // namespace

options options::read(const std::vector<std::string>& words) {
  options made;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    const auto value = [&]() -> const std::string& {
      if (++i == words.size()) throw std::runtime_error(word + " needs a value; see --help");
      return words[i];
    };
    if (word == "--help")
      made.help = true;
    else if (word == "--agreement")
      made.agreement = true;
    else if (word == "--machine")
      made.machine = value();
    else if (word == "--algorithm")
      made.algorithm = value();
    else if (word == "--tune")
      made.tune = value();
    else if (word == "--seconds")
      made.seconds = numbers_of<int>(word, value(), 1).front();
    else if (word == "--tolerance")
      made.tolerance = numbers_of<int>(word, value(), 0).front() / 100.0;
    else if (word == "--ranks")
      made.ranks = numbers_of<int>(word, value(), 1);
    else if (word == "--sizes")
      made.sizes = numbers_of<std::size_t>(word, value(), 4);
    else if (word.starts_with("-"))
      throw std::runtime_error("there is no option " + word + "; see --help");
    else
      made.operations.push_back(word);
  }
  for (const auto bytes : made.sizes)
    if (bytes % 4 != 0) throw std::runtime_error(fmt::format("--sizes: {} is no multiple of 4", bytes));
  std::sort(made.ranks.begin(), made.ranks.end());
  if (made.selected().empty()) throw std::runtime_error("no algorithm is called that");
  return made;
}

std::vector<candidate> options::selected() const {
  auto all = candidates();
  std::erase_if(all, [this](const candidate& one) {
    const bool is_wanted = operations.empty() || std::find(operations.begin(), operations.end(),
                                                           chorale::name(one.what)) != operations.end();
    return !is_wanted || (!algorithm.empty() && algorithm != one.name);
  });
  return all;
}

int options::print_help() {
  fmt::print(
      "usage: sim-scale [OPTION...] [OPERATION...]\n"
      "Times of collectives on a machine, by ghosts: on groups of up to 65,536 ranks. All operations, if "
      "none is named.\n"
      "  --machine NAME     a machine that comes with the library, or a file (hdr-64core)\n"
      "  --algorithm NAME   that one only\n"
      "  --ranks N,...      (2,4,8,16,32,64)\n"
      "  --sizes BYTES,...  of a message, or of each block (8,1024,16384,262144)\n"
      "  --seconds S        leave out what would take longer, to judge by fewer ranks (120)\n"
      "  --tune FILE        also write the table as one to choose by (CHORALE_TUNING)\n"
      "  --agreement        compare with the full stack; fails where they differ by more than\n"
      "  --tolerance P      percent (10)\n");
  return 0;
}

}  // namespace sim_scale
