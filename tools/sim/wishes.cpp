// SPDX-License-Identifier: Apache-2.0
#include "wishes.hpp"

#include <cmath>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "../bench/plotter.hpp"
#include "../bench/replaced_file.hpp"

namespace seeing {
namespace {

/// More rows cannot be distinguished on a page.
constexpr int most_rows = 64;

sim::instant microseconds(double value) {
  return sim::instant{sim::duration{std::llround(value * 1e6)}};
}

}  // namespace

void add_options(CLI::App& app, wishes& w) {
  const char* const group = "What happened";
  app.add_option("--trace", w.trace, "Write a trace for ui.perfetto.dev or chrome://tracing (JSON)")
      ->type_name("FILE")
      ->group(group);
  app.add_option(
         "--timeline", w.timeline,
         fmt::format("Write a picture of ranks over time (SVG) by chorale-plot, which needs gnuplot; of "
                     "{} ranks at most",
                     most_rows))
      ->type_name("FILE")
      ->group(group);
  app.add_option("--goal", w.goal, "Write the messages as a schedule for LogGOPSim (GOAL)")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--critical-path", w.critical_path,
               "Show what the end of the last measured call waited for, back to its beginning")
      ->group(group);
  app.add_option("--window", w.stretch,
                 "Time to show: call (the last measured one), sample (the last one, with the barriers in it; "
                 "the default except for --critical-path), all, or FROM,TO in us of virtual time")
      ->type_name("call|sample|all|FROM,TO")
      ->group(group);
  app.add_option("--records", w.records, "Number of records to keep; older ones are dropped")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 36))
      ->capture_default_str()
      ->group(group);
}

std::string find_fault(const wishes& w, int ranks) {
  if (!w.any())
    return w.stretch.empty() ? "" : "--window needs --trace, --timeline, --goal or --critical-path";
  try {
    parse_window(w.stretch);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  if (!w.timeline.empty() && ranks > most_rows)
    return fmt::format(
        "--timeline: {} ranks are more than the {} that a picture can show; --trace has room for all", ranks,
        most_rows);
  std::set<std::string> files;
  try {
    for (const auto& file : {w.trace, w.timeline, w.goal}) {
      if (file.empty()) continue;
      if (!files.insert(file).second) return fmt::format("two options name the same file: {}", file);
      bench::check_file(file);
    }
    if (!w.timeline.empty()) bench::need_plotter("timeline");
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return {};
}

sim::window parse_window(const std::string& text) {
  if (text.empty() || text == "call" || text == "sample" || text == "all") return {};
  const auto refuse = [&] {
    return std::invalid_argument(
        fmt::format("--window '{}': it is call, sample, all, or FROM,TO in us, as in 120.5,180", text));
  };
  try {
    std::size_t first = 0;
    const double from = std::stod(text, &first);
    if (first >= text.size() || text[first] != ',') throw refuse();
    std::size_t rest = 0;
    const double to = std::stod(text.substr(first + 1), &rest);
    // At most eleven days, so that picoseconds fit into 64 bits.
    if (first + 1 + rest != text.size() || !(from >= 0) || !(to > from) || !(to < 1e12)) throw refuse();
    const sim::window found{microseconds(from), microseconds(to)};
    if (found.end <= found.begin) throw refuse();
    return found;
  } catch (const std::logic_error&) {
    throw refuse();
  }
}

}  // namespace seeing
