// SPDX-License-Identifier: Apache-2.0
#include "machine_text.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "../../core/printable.hpp"

namespace chorale::simulation {
namespace {

/// The deepest nesting of values that is accepted; no machine file comes near it.
constexpr int deepest = 64;

/// Gives the parser the text, and counts the lines that it has begun.
struct counting {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  reference operator*() const noexcept { return *at; }
  counting& operator++() noexcept {
    last = *at++;
    lines += last == '\n' ? 1 : 0;
    return *this;
  }
  friend bool operator==(const counting& a, const counting& b) noexcept { return a.at == b.at; }

  std::string_view::iterator at;
  int& lines;
  char& last;
};

/// Adds to `values` the values of `all` that precede `value` in the text. @returns whether `value` is in
/// `all`.
bool count_until(const json& all, const json* value, std::size_t& values) {
  if (&all == value) return true;
  ++values;
  return all.is_structured() && std::any_of(all.begin(), all.end(), [&](const json& inner) {
           return count_until(inner, value, values);
         });
}

}  // namespace

std::string described(const json& value) {
  if (value.is_string())
    return fmt::format("the text \"{}\"", printable(value.get_ref<const std::string&>(), 64));
  if (value.is_number()) return fmt::format("the number {}", value.dump());
  return value.is_structured() ? fmt::format("an {}", value.type_name()) : value.dump();
}

machine_text::machine_text(std::string_view text) {
  int lines = 1;
  char last = 0;
  // The parser ends a number only at the next character, which may be the newline.
  const auto line = [&] { return lines - (last == '\n' ? 1 : 0); };
  std::vector<std::set<std::string>> keys;  // of the open objects
  const auto look = [&](int depth, json::parse_event_t event, const json& parsed) {
    using is = json::parse_event_t;
    if (depth > deepest) throw json_fault{line(), fmt::format("more than {} values in each other", deepest)};
    if (event == is::object_start || event == is::array_start || event == is::value) lines_.push_back(line());
    if (event == is::object_start) keys.emplace_back();
    if (event == is::object_end) keys.pop_back();
    if (event == is::key && !keys.back().insert(parsed.get<std::string>()).second)
      throw json_fault{line(), fmt::format("the key \"{}\" is there twice",
                                           printable(parsed.get_ref<const std::string&>(), 64))};
    return true;
  };
  try {
    root_ = json::parse(counting{text.begin(), lines, last}, counting{text.end(), lines, last}, look);
  } catch (const json::exception& e) {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error while ..."
    std::string_view why = e.what();
    why.remove_prefix(std::min(why.find("] ") + 2, why.size()));
    throw json_fault{line(), fmt::format("this is no JSON: {}", printable(why, 256))};
  }
}

void machine_text::refuse(const json& value, std::string why) const {
  std::size_t before = 0;
  throw json_fault{count_until(root_, &value, before) ? lines_[before] : 1, std::move(why)};
}

void machine_text::note(std::string parameter, std::string value, const json& source) {
  const auto& text = source.get_ref<const std::string&>();
  bool cites = false;
  std::string_view rest = text;
  for (auto open = rest.find('['); open != rest.npos; open = rest.find('[')) {
    rest.remove_prefix(open + 1);
    const auto key = rest.substr(0, rest.find(']'));
    if (std::find(keys_.begin(), keys_.end(), key) == keys_.end())
      refuse(source, fmt::format("the source of \"{}\" cites [{}], which \"sources\" does not have",
                                 parameter, printable(key, 64)));
    cites = true;
  }
  constexpr std::string_view reason = "estimate: ";
  if (!cites && (!text.starts_with(reason) || text.size() == reason.size()))
    refuse(source,
           fmt::format("the source of \"{}\" is no source: it has to cite one of \"sources\" in square "
                       "brackets, or to be \"estimate: \" and a reason",
                       parameter));
  noted_.push_back({std::move(parameter), std::move(value), text});
}

}  // namespace chorale::simulation
