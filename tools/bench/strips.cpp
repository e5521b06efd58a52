#include "strips.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace bench {
namespace {

bool has_root(const std::string& operation) {
  const auto rooted = {"broadcast", "reduce", "gather", "scatter"};
  return std::find(rooted.begin(), rooted.end(), operation) != rooted.end();
}

/// A row with its result.
struct placed {
  const named_result* result;
  const result_row* line;
};

/// The name that distinguishes the curve of a row within its strip.
std::string name_of(const placed& one, bool several_results, bool several_transports) {
  const row& r = one.line->measured;
  const std::string& contestant = one.line->contestant;
  std::string name = several_results ? one.result->name + ": " : "";
  if (!contestant.empty()) return name + contestant;
  // For an MPI, library and transport are the same.
  if (several_transports && r.transport != "mpi") name += r.transport + ' ';
  return name + r.algorithm;
}

mark mark_of(const row& r, bool with_barrier) {
  const double bytes = static_cast<double>(r.bytes);
  if (with_barrier) return {bytes, r.wall, r.wall, r.wall, &r};
  return {bytes, r.median, r.p10, r.p90, &r};
}

bool can_be_drawn(const mark& one) {
  const auto usable = [](double value) { return std::isfinite(value) && value > 0; };
  return usable(one.time) && std::isfinite(one.low) && usable(one.high);
}

strip strip_of(const std::string& title, const std::vector<placed>& rows) {
  strip made;
  made.title = title;
  const std::string& operation = rows.front().line->measured.operation;
  made.sized =
      std::any_of(rows.begin(), rows.end(), [](const placed& one) { return one.line->measured.bytes > 0; });
  made.with_barrier = has_root(operation) && std::any_of(rows.begin(), rows.end(), [](const placed& one) {
                        return is_crowded(one.result->what) && !is_back_to_back(one.result->what);
                      });
  std::set<const named_result*> results;
  std::set<std::string> transports;
  for (const placed& one : rows) {
    results.insert(one.result);
    transports.insert(one.line->measured.transport);
  }
  for (const placed& one : rows) {
    const std::string name = name_of(one, results.size() > 1, transports.size() > 1);
    const mark here = mark_of(one.line->measured, made.with_barrier);
    if (!can_be_drawn(here) || (made.sized && here.bytes <= 0)) {
      made.left_out.push_back(fmt::format("{} at {}: {:.3g} us", name, size_text(here.bytes), here.time));
      continue;
    }
    auto found = std::find_if(made.curves.begin(), made.curves.end(),
                              [&](const curve& other) { return other.name == name; });
    if (found == made.curves.end()) found = made.curves.insert(found, {name, {}});
    found->marks.push_back(here);
  }
  for (curve& one : made.curves)
    std::stable_sort(one.marks.begin(), one.marks.end(),
                     [](const mark& a, const mark& b) { return a.bytes < b.bytes; });
  return made;
}

}  // namespace

std::vector<strip> strips_of(const std::vector<named_result>& all) {
  using place = std::tuple<std::string, std::string, int>;
  std::map<place, std::vector<placed>> rows;
  std::vector<place> order;
  for (const named_result& one : all) {
    for (const result_row& line : one.what.rows) {
      place where{line.set_up, line.measured.operation, one.what.ranks};
      auto& there = rows[where];
      if (there.empty()) order.push_back(where);
      there.push_back({&one, &line});
    }
  }
  std::vector<strip> made;
  for (const place& where : order) {
    const auto& [set_up, operation, ranks] = where;
    const std::string ranks_text = fmt::format("{} {}", ranks, ranks == 1 ? "rank" : "ranks");
    made.push_back(strip_of(
        fmt::format("{}{}{}, {}", set_up, set_up.empty() ? "" : ": ", operation, ranks_text), rows[where]));
  }
  return made;
}

std::string size_text(double bytes) {
  constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (unit + 1 < units.size() && bytes >= 1024 && std::fmod(bytes, 1024) == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.0f} {}", bytes, units[unit]);
}

std::optional<std::string> bars_of(const std::vector<named_result>& all) {
  std::optional<std::string> bars;
  for (const named_result& one : all) {
    for (const auto& [name, value] : one.what.about)
      if (name == "bars") bars = value;
  }
  return bars;
}

std::string line_about(const named_result& one) {
  std::string line = one.name.empty() ? "" : one.name + ": ";
  bool first = true;
  for (const auto& [name, value] : one.what.about) {
    if (!first) line += "; ";
    line += name + ' ' + value;
    first = false;
  }
  return line;
}

}  // namespace bench
