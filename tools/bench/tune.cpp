// SPDX-License-Identifier: Apache-2.0
#include "tune.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <chorale/model/tuning.hpp>

#include "../../lib/core/files.hpp"
#include "../../lib/core/printable.hpp"
#include "replaced_file.hpp"

namespace bench {
namespace {

using nlohmann::json;

/// The limit of the library.
constexpr std::size_t largest_file = std::size_t{64} << 20;

json read_table(const std::string& file) {
  if (!std::filesystem::exists(file)) return json{{"tuning", json::array()}};
  (void)chorale::model::tuning_table::read(file);  // throws if the file is missing or is not a table
  return json::parse(chorale::detail::text_of_file(file, largest_file));
}

void replace(const std::string& file, const std::string& text) {
  try {
    replace_file(file, text);
  } catch (const std::system_error& e) {
    throw std::runtime_error(fmt::format("the tuning table '{}' cannot be written: {}",
                                         chorale::printable(file), e.code().message()));
  }
}

/// One row per line, so that a diff of two tables shows the changed rows.
std::string text_of(json table) {
  const json rows = std::exchange(table["tuning"], json::array());
  table.erase("tuning");
  std::string text = "{\n";
  for (const auto& [key, value] : table.items())
    text += fmt::format("{}: {},\n", json(key).dump(), value.dump(1));
  text += "\"tuning\": [";
  const char* between = "\n";
  for (const auto& row : rows) text += std::exchange(between, ",\n") + row.dump();
  return text + "\n]\n}\n";
}

/// How rows name the group on which they were measured.
json group_of(const chorale::model::situation& on) {
  json group{{"ranks", on.ranks}, {"crowded", on.crowded}};
  if (on.has_levels()) {
    group["places"] = on.places;
    group["largest"] = on.largest;
  }
  return group;
}

bool is_of(const json& entry, const json& group) {
  constexpr std::array of_group{"ranks", "crowded", "places", "largest"};
  return std::ranges::all_of(
      of_group, [&](const char* name) { return entry.value(name, json{}) == group.value(name, json{}); });
}

}  // namespace

void check_tuning(const std::string& file) {
  check_file(file);
  (void)read_table(file);
}

void describe_tuning(const std::string& file, const facts& about) {
  json table = read_table(file);
  for (const auto& [key, value] : about) table["about"][key] = value;
  replace(file, text_of(std::move(table)));
}

void write_tuning(const std::string& file, const std::vector<row>& rows,
                  const chorale::model::situation& on) {
  const json group = group_of(on);
  json table = read_table(file);
  std::set<std::pair<std::string, std::string>> measured;
  std::map<std::tuple<std::string, std::string, std::size_t>, json> fresh;
  for (const row& r : rows) {
    // `standard` is a choice among the others, not an algorithm.
    if (r.algorithm == "standard") continue;
    measured.emplace(r.operation, r.transport);
    json& entry = fresh[{r.operation, r.transport, r.bytes}];
    entry.update(group);
    entry["operation"] = r.operation;
    entry["transport"] = r.transport;
    entry["bytes"] = r.bytes;
    entry["microseconds"][r.algorithm] = on.crowded ? r.wall : r.median;
  }
  json kept = json::array();
  for (const auto& entry : table["tuning"]) {
    const bool replaced =
        is_of(entry, group) && measured.count({entry.value("operation", std::string{}),
                                               entry.value("transport", std::string{})}) > 0;
    if (!replaced) kept.push_back(entry);
  }
  for (auto& [key, entry] : fresh) kept.push_back(std::move(entry));
  table["tuning"] = std::move(kept);
  replace(file, text_of(std::move(table)));
}

}  // namespace bench
