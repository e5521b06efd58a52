#include "tune.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

namespace bench {
namespace {

using nlohmann::json;

json read_table(const std::string& file) {
  if (!std::filesystem::exists(file)) return json{{"tuning", json::array()}};
  std::ifstream in(file);
  try {
    auto table = json::parse(in);
    if (table.at("tuning").is_array()) return table;
  } catch (const json::exception& e) {
    throw std::runtime_error(fmt::format("{} is no tuning table: {}", file, e.what()));
  }
  throw std::runtime_error(fmt::format("{} is no tuning table: \"tuning\" is no list", file));
}

}  // namespace

void write_tuning(const std::string& file, const std::vector<row>& rows, int ranks, bool crowded) {
  json table = read_table(file);
  std::set<std::pair<std::string, std::string>> measured;
  std::map<std::tuple<std::string, std::string, std::size_t>, json> fresh;
  for (const row& r : rows) {
    // The choices themselves are not chosen among.
    if (r.algorithm == "standard") continue;
    measured.emplace(r.operation, r.transport);
    json& entry = fresh[{r.operation, r.transport, r.bytes}];
    entry["operation"] = r.operation;
    entry["transport"] = r.transport;
    entry["ranks"] = ranks;
    entry["crowded"] = crowded;
    entry["bytes"] = r.bytes;
    entry["microseconds"][r.algorithm] = crowded ? r.wall : r.median;
  }
  json kept = json::array();
  for (const auto& entry : table["tuning"]) {
    const bool replaced = entry.value("ranks", 0) == ranks && entry.value("crowded", false) == crowded &&
                          measured.count({entry.value("operation", std::string{}),
                                          entry.value("transport", std::string{})}) > 0;
    if (!replaced) kept.push_back(entry);
  }
  for (auto& [key, entry] : fresh) kept.push_back(std::move(entry));
  table["tuning"] = std::move(kept);
  const std::string fresh_file = file + ".new";
  {
    std::ofstream out(fresh_file);
    out << table.dump(1) << '\n';
    if (!out.flush()) throw std::runtime_error(fmt::format("{} cannot be written", fresh_file));
  }
  std::filesystem::rename(fresh_file, file);
}

}  // namespace bench
