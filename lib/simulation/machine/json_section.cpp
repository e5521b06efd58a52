#include "json_section.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../../core/printable.hpp"

namespace chorale::simulation {
namespace {

using type = json_node::type;

std::string list_of(const std::vector<std::string_view>& names) {
  std::string text;
  for (const auto name : names) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
  return text;
}

}  // namespace

json_section::json_section(const json_node& node, std::string path, source_list& sources)
    : node_(node), path_(std::move(path)), sources_(sources) {
  if (!node.is(type::object))
    throw json_fault{node.line,
                     fmt::format("{} is {}, which has to be an object",
                                 path_.empty() ? "the file" : '"' + path_ + '"', node.described())};
}

std::string json_section::name(std::string_view key) const {
  return path_.empty() ? printable(key, 64) : fmt::format("{}.{}", path_, printable(key, 64));
}

const json_node& json_section::member(std::string_view key) {
  const auto* const found = node_.find(key);
  if (found == nullptr) throw json_fault{node_.line, fmt::format("\"{}\" is missing", name(key))};
  read_.push_back(key);
  return *found;
}

json_section::amount json_section::quantity(std::string_view key, std::span<const unit> units) {
  const auto& node = member(key);
  std::vector<std::string_view> names;
  for (const auto& one : units) names.push_back(one.name);
  const auto wanted =
      fmt::format("an object of its value under its unit ({}) and its source under \"from\"", list_of(names));
  if (!node.is(type::object))
    throw json_fault{node.line,
                     fmt::format("\"{}\" is {}, which has to be {}", name(key), node.described(), wanted)};
  const unit* found = nullptr;
  const json_node* value = nullptr;
  for (const auto& [inner, node_of_it] : node.members) {
    if (inner == "from") continue;
    const auto match =
        std::find_if(units.begin(), units.end(), [&given = inner](const unit& u) { return u.name == given; });
    if (match == units.end() || found != nullptr)
      throw json_fault{node_of_it.line,
                       match == units.end()
                           ? fmt::format("\"{}\" has the unknown key \"{}\": it has to be {}", name(key),
                                         printable(inner, 64), wanted)
                           : fmt::format("\"{}\" has two units", name(key))};
    found = &*match;
    value = &node_of_it;
  }
  if (found == nullptr)
    throw json_fault{node.line, fmt::format("\"{}\" has no value: it has to be {}", name(key), wanted)};
  const double number = value->is(type::whole) ? static_cast<double>(value->whole) : value->fraction;
  if (!value->is_number() || !std::isfinite(number) || number < 0)
    throw json_fault{value->line, fmt::format("\"{}\" is {}, which has to be a number that is not negative",
                                              name(key), value->described())};
  json_section inner{node, name(key), sources_};
  auto source = inner.text("from");
  sources_.add(inner.path_, fmt::format("{} {}", number, found->name), std::move(source),
               node.find("from")->line);
  return {number * found->factor, value->line};
}

duration json_section::time(std::string_view key) {
  static constexpr unit units[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}};
  const auto [value, line] = quantity(key, units);
  if (value > 1e15) throw json_fault{line, fmt::format("\"{}\" is longer than 1,000 seconds", name(key))};
  return duration{std::llround(value)};
}

byte_cost json_section::rate(std::string_view key) {
  static constexpr unit units[] = {{"MB/s", 1e6}, {"GB/s", 1e9}, {"Gb/s", 1e9 / 8}};
  const auto [value, line] = quantity(key, units);
  if (value < 1e6 || value > 1e14)
    throw json_fault{
        line,
        fmt::format("\"{}\" is a rate out of what can be reckoned with, 1 MB/s to 100 TB/s", name(key))};
  return byte_cost::rate(std::llround(value));
}

std::int64_t json_section::count(std::string_view key, std::int64_t least, std::int64_t most) {
  static constexpr unit units[] = {{"count", 1}};
  const auto [value, line] = quantity(key, units);
  if (value < static_cast<double>(least) || value > static_cast<double>(most) || value != std::floor(value))
    throw json_fault{line, fmt::format("\"{}\" is {}, which has to be a whole number from {} to {}",
                                       name(key), value, least, most)};
  return std::llround(value);
}

std::uint32_t json_section::bytes(std::string_view key, std::int64_t least) {
  static constexpr unit units[] = {{"bytes", 1}};
  const auto [value, line] = quantity(key, units);
  const auto most = std::int64_t{1} << 31;
  if (value < static_cast<double>(least) || value > static_cast<double>(most) || value != std::floor(value))
    throw json_fault{line, fmt::format("\"{}\" is {}, which has to be a whole number from {} to {}",
                                       name(key), value, least, most)};
  return static_cast<std::uint32_t>(std::llround(value));
}

bool json_section::truth(std::string_view key) {
  const auto& node = member(key);
  if (!node.is(type::truth))
    throw json_fault{node.line,
                     fmt::format("\"{}\" is {}, which has to be true or false", name(key), node.described())};
  return node.truth;
}

std::string json_section::text(std::string_view key) {
  const auto& node = member(key);
  if (!node.is(type::text) || node.text.empty())
    throw json_fault{node.line,
                     fmt::format("\"{}\" is {}, which has to be a text", name(key), node.described())};
  return node.text;
}

std::int64_t json_section::whole(std::string_view key, std::int64_t least, std::int64_t most) {
  const auto& node = member(key);
  if (!node.is(type::whole) || node.whole < least || node.whole > most)
    throw json_fault{node.line, fmt::format("\"{}\" is {}, which has to be a whole number from {} to {}",
                                            name(key), node.described(), least, most)};
  return node.whole;
}

std::vector<int> json_section::wholes(std::string_view key) {
  std::vector<int> numbers;
  for (const auto& item : array(key).items) {
    if (!item.is(type::whole) || item.whole < 1 || item.whole > std::numeric_limits<int>::max())
      throw json_fault{item.line, fmt::format("\"{}\" has {} in it, which has to be a whole number from 1 on",
                                              name(key), item.described())};
    numbers.push_back(static_cast<int>(item.whole));
  }
  return numbers;
}

const json_node& json_section::array(std::string_view key) {
  const auto& node = member(key);
  if (!node.is(type::array))
    throw json_fault{node.line,
                     fmt::format("\"{}\" is {}, which has to be an array", name(key), node.described())};
  return node;
}

void json_section::from() {
  auto source = text("from");
  sources_.add(path_, "", std::move(source), node_.find("from")->line);
}

void json_section::end() const {
  for (const auto& [key, value] : node_.members) {
    if (std::find(read_.begin(), read_.end(), key) != read_.end()) continue;
    throw json_fault{value.line,
                     fmt::format("\"{}\" is unknown here; {} has {}", name(key),
                                 path_.empty() ? "a machine" : '"' + path_ + '"', list_of(read_))};
  }
}

}  // namespace chorale::simulation
