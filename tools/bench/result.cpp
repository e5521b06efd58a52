// SPDX-License-Identifier: Apache-2.0
#include "result.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <fmt/format.h>

#include "../../lib/core/files.hpp"
#include "../../lib/core/printable.hpp"

namespace bench {
namespace {

using json = nlohmann::ordered_json;

bool has(const run_result& one, const std::pair<const char*, const char*>& fact) {
  return std::any_of(one.about.begin(), one.about.end(), [&](const auto& other) {
    return other.first == fact.first && other.second == fact.second;
  });
}

[[noreturn]] void refuse(const std::string& what) {
  throw std::runtime_error(what);
}

std::string text_at(const json& of, const char* key) {
  if (!of.contains(key) || !of.at(key).is_string()) refuse(fmt::format("\"{}\" must be a text", key));
  return of.at(key).get<std::string>();
}

double time_at(const json& of, const char* key) {
  if (!of.contains(key) || !of.at(key).is_number())
    refuse(fmt::format("\"{}\" must be a number of microseconds", key));
  return of.at(key).get<double>();
}

template <class Whole>
Whole count_at(const json& of, const char* key, Whole least) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Whole>::max());
  if (!of.contains(key) || !of.at(key).is_number_unsigned() || of.at(key).get<std::uint64_t>() > most ||
      of.at(key).get<Whole>() < least)
    refuse(fmt::format("\"{}\" must be a whole number from {} on", key, least));
  return of.at(key).get<Whole>();
}

row row_of(const json& one) {
  row r;
  r.operation = text_at(one, "operation");
  r.algorithm = text_at(one, "algorithm");
  r.transport = text_at(one, "transport");
  r.bytes = count_at<std::size_t>(one, "bytes", 0);
  r.median = time_at(one, "median");
  r.p10 = time_at(one, "p10");
  r.p90 = time_at(one, "p90");
  r.p99 = time_at(one, "p99");
  r.fastest = time_at(one, "min");
  r.slowest = time_at(one, "max");
  r.wall = time_at(one, "wall");
  r.samples = count_at(one, "samples", 0);
  r.calls = count_at(one, "calls", 0);
  if (one.contains("floor")) r.floor = time_at(one, "floor");
  if (one.contains("wrong_ranks")) r.wrong = count_at(one, "wrong_ranks", 0);
  return r;
}

facts facts_at(const json& of, const char* key) {
  facts all;
  if (!of.contains(key)) return all;
  if (!of.at(key).is_object()) refuse(fmt::format("\"{}\" must be an object of texts", key));
  for (const auto& [name, value] : of.at(key).items())
    all.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  return all;
}

void read_into(run_result& into, const json& document, std::string& where) {
  if (!document.is_object() || !document.contains("rows") || !document.at("rows").is_array())
    refuse(
        "it has no list \"rows\": it is no result that chorale-bench, chorale-sim or mpi-peers has written");
  into.ranks = count_at(document, "ranks", 1);
  into.about = facts_at(document, "about");
  into.machine = facts_at(document, "machine");
  into.run = facts_at(document, "run");
  for (const json& one : document.at("rows")) {
    where = fmt::format("row {}: ", into.rows.size() + 1);
    if (!one.is_object()) refuse("it must be an object");
    into.rows.push_back({one.contains("set_up") ? text_at(one, "set_up") : "",
                         one.contains("contestant") ? text_at(one, "contestant") : "", row_of(one)});
  }
}

}  // namespace

bool is_back_to_back(const run_result& one) {
  return has(one, back_to_back_fact);
}

std::vector<result_row> rows_of_result(const std::vector<row>& rows) {
  std::vector<result_row> all;
  for (const row& r : rows) all.push_back({"", "", r});
  return all;
}

int count_wrong(const std::vector<result_row>& rows) {
  return static_cast<int>(std::count_if(
      rows.begin(), rows.end(), [](const result_row& one) { return one.measured.wrong.value_or(0) > 0; }));
}

run_result read_result(const std::string& file) {
  // Thousands of times the size of written files.
  constexpr std::size_t largest_file = std::size_t{256} << 20;
  std::string where;
  run_result all;
  try {
    read_into(all, json::parse(chorale::detail::text_of_file(file, largest_file)), where);
  } catch (const std::exception& e) {
    throw std::runtime_error(
        fmt::format("{}: {}{}", chorale::printable(file), where, chorale::printable(e.what())));
  }
  return all;
}

std::vector<named_result> read_results(const std::vector<std::string>& names) {
  const auto short_name = [](const std::string& name) { return std::filesystem::path{name}.stem().string(); };
  std::vector<named_result> all;
  for (const std::string& name : names) {
    const auto same = std::count_if(names.begin(), names.end(), [&](const std::string& other) {
      return short_name(other) == short_name(name);
    });
    all.push_back({names.size() == 1 ? "" : same == 1 ? short_name(name) : name, read_result(name)});
  }
  return all;
}

}  // namespace bench
