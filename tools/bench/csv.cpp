// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "output.hpp"

namespace bench {
namespace {

/// The text without line breaks, for a comment line.
std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string as_csv(const run_result& all) {
  const bool of_set_ups = std::any_of(all.rows.begin(), all.rows.end(), is_of_set_up);
  std::string out;
  const auto into = std::back_inserter(out);
  for (const facts* list : {&all.about, &all.machine, &all.run})
    for (const auto& [name, value] : *list)
      fmt::format_to(into, "# {}: {}\n", in_one_line(name), in_one_line(value));
  fmt::format_to(into,
                 "{}ranks,operation,algorithm,transport,bytes,median_us,p10_us,p90_us,p99_us,min_us,max_us,"
                 "wall_us,samples,calls,floor_us,wrong_ranks\n",
                 of_set_ups ? "set_up,contestant," : "");
  for (const result_row& one : all.rows) {
    const row& r = one.measured;
    if (of_set_ups) fmt::format_to(into, "{},{},", quoted(one.set_up), quoted(one.contestant));
    fmt::format_to(into, "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", all.ranks, quoted(r.operation),
                   quoted(r.algorithm), quoted(r.transport), r.bytes, r.median, r.p10, r.p90, r.p99,
                   r.fastest, r.slowest, r.wall, r.samples, r.calls,
                   r.floor ? fmt::format("{}", *r.floor) : "", r.wrong ? fmt::format("{}", *r.wrong) : "");
  }
  return out;
}

}  // namespace bench
