// SPDX-License-Identifier: Apache-2.0
#include "json_section.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../../core/printable.hpp"

namespace chorale::simulation {
namespace {

std::string list_of(const std::vector<std::string_view>& names) {
  std::string text;
  for (const auto name : names) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
  return text;
}

}  // namespace

json_section::json_section(const json& node, std::string path, machine_text& file)
    : node_(node), path_(std::move(path)), file_(file) {
  if (!node.is_object())
    file_.refuse(node, fmt::format("{} is {}, which has to be an object",
                                   path_.empty() ? "the file" : '"' + path_ + '"', described(node)));
}

std::string json_section::name(std::string_view key) const {
  return path_.empty() ? printable(key, 64) : fmt::format("{}.{}", path_, printable(key, 64));
}

const json& json_section::member(std::string_view key) {
  const auto found = node_.find(std::string{key});
  if (found == node_.end()) file_.refuse(node_, fmt::format("\"{}\" is missing", name(key)));
  read_.push_back(key);
  return *found;
}

const json& json_section::member(std::string_view key, bool (json::*is_right)() const noexcept,
                                 const char* wanted) {
  const auto& node = member(key);
  if (!(node.*is_right)())
    file_.refuse(node, fmt::format("\"{}\" is {}, which has to be {}", name(key), described(node), wanted));
  return node;
}

json_section::amount json_section::quantity(std::string_view key, std::span<const unit> units) {
  std::vector<std::string_view> names;
  for (const auto& one : units) names.push_back(one.name);
  const auto wanted =
      fmt::format("an object of its value under its unit ({}) and its source under \"from\"", list_of(names));
  const auto& node = member(key, &json::is_object, wanted.c_str());
  const unit* found = nullptr;
  const json* value = nullptr;
  for (const auto& [inner, node_of_it] : node.items()) {
    if (inner == "from") continue;
    const auto match =
        std::find_if(units.begin(), units.end(), [&given = inner](const unit& u) { return u.name == given; });
    if (match == units.end())
      file_.refuse(node_of_it, fmt::format("\"{}\" has the unknown key \"{}\": it has to be {}", name(key),
                                           printable(inner, 64), wanted));
    if (found != nullptr) file_.refuse(node_of_it, fmt::format("\"{}\" has two units", name(key)));
    found = &*match;
    value = &node_of_it;
  }
  if (found == nullptr)
    file_.refuse(node, fmt::format("\"{}\" has no value: it has to be {}", name(key), wanted));
  const double number = value->is_number() ? value->get<double>() : -1;
  if (!std::isfinite(number) || number < 0)
    file_.refuse(*value, fmt::format("\"{}\" is {}, which has to be a number that is not negative", name(key),
                                     described(*value)));
  json_section{node, name(key), file_}.note_source(fmt::format("{} {}", number, found->name));
  return {number * found->factor, *value};
}

duration json_section::time(std::string_view key) {
  static constexpr unit units[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}};
  const auto [value, node] = quantity(key, units);
  if (value > 1e15) file_.refuse(node, fmt::format("\"{}\" is longer than 1,000 seconds", name(key)));
  return duration{std::llround(value)};
}

byte_cost json_section::rate(std::string_view key) {
  static constexpr unit units[] = {{"MB/s", 1e6}, {"GB/s", 1e9}, {"Gb/s", 1e9 / 8}};
  const auto [value, node] = quantity(key, units);
  if (value < 1e6 || value > 1e14)
    file_.refuse(node, fmt::format("\"{}\" is a rate out of what can be reckoned with, 1 MB/s to 100 TB/s",
                                   name(key)));
  return byte_cost::rate(std::llround(value));
}

std::int64_t json_section::whole_amount(std::string_view key, unit of, std::int64_t least,
                                        std::int64_t most) {
  const auto [value, node] = quantity(key, {&of, 1});
  if (value < static_cast<double>(least) || value > static_cast<double>(most) || value != std::floor(value))
    file_.refuse(node, fmt::format("\"{}\" is {}, which has to be a whole number from {} to {}", name(key),
                                   value, least, most));
  return std::llround(value);
}

std::int64_t json_section::count(std::string_view key, std::int64_t least, std::int64_t most) {
  return whole_amount(key, {"count", 1}, least, most);
}

std::uint32_t json_section::bytes(std::string_view key, std::int64_t least) {
  return static_cast<std::uint32_t>(whole_amount(key, {"bytes", 1}, least, std::int64_t{1} << 31));
}

bool json_section::truth(std::string_view key) {
  return member(key, &json::is_boolean, "true or false").get<bool>();
}

std::string json_section::text(std::string_view key) {
  const auto& node = member(key, &json::is_string, "a text");
  if (node.get_ref<const std::string&>().empty())
    file_.refuse(node, fmt::format("\"{}\" is {}, which has to be a text", name(key), described(node)));
  return node.get<std::string>();
}

std::int64_t json_section::whole(std::string_view key, std::int64_t least, std::int64_t most) {
  const auto& node = member(key);
  if (!node.is_number_integer() || node.get<std::int64_t>() < least || node.get<std::int64_t>() > most)
    file_.refuse(node, fmt::format("\"{}\" is {}, which has to be a whole number from {} to {}", name(key),
                                   described(node), least, most));
  return node.get<std::int64_t>();
}

std::vector<int> json_section::wholes(std::string_view key) {
  std::vector<int> numbers;
  for (const auto& item : array(key)) {
    const auto number = item.is_number_integer() ? item.get<std::int64_t>() : 0;
    if (number < 1 || number > std::numeric_limits<int>::max())
      file_.refuse(item, fmt::format("\"{}\" has {} in it, which has to be a whole number from 1 on",
                                     name(key), described(item)));
    numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

const json& json_section::array(std::string_view key) {
  return member(key, &json::is_array, "an array");
}

void json_section::note_source(std::string value) {
  static_cast<void>(text("from"));
  file_.note(path_, std::move(value), node_.at("from"));
}

void json_section::end() const {
  for (const auto& [key, value] : node_.items()) {
    if (std::find(read_.begin(), read_.end(), key) != read_.end()) continue;
    file_.refuse(value, fmt::format("\"{}\" is unknown here; {} has {}", name(key),
                                    path_.empty() ? "a machine" : '"' + path_ + '"', list_of(read_)));
  }
}

}  // namespace chorale::simulation
