// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"
#include "replaced_file.hpp"

namespace bench {

void print_preamble(const facts& about, const limits& l, bool with_floor) {
  for (const auto& [name, value] : about) chorale::say(stdout, "# {}: {}\n", name, value);
  chorale::say(
      stdout,
      "# microseconds of one call. In each sample the time of a call is averaged over its calls and over the "
      "ranks;\n"
      "# median and percentiles are over the samples; min and max are the medians of the fastest and the "
      "slowest rank.\n");
  if (!l.back_to_back) {
    chorale::say(
        stdout,
        "# broadcast and reduce: a barrier before each call, whose time does not count, nor that of looking "
        "at "
        "the clock;\n"
        "# wall: the call with that barrier. Where ranks outnumber cores look at wall: what comes while a "
        "rank "
        "is waiting\n"
        "# in the barrier for a core is there when it gets one, and its call seems to cost nothing.\n");
  }
  if (with_floor)
    chorale::say(
        stdout,
        "# floor: one way of a flag between ranks 0 and 1, measured between the samples; ratio: median / "
        "floor.\n");
}

void print_head(const std::string& operation, bool with_floor, bool with_check) {
  chorale::say(stdout, "\n# {}\n{:>9} {:<4} {:<24} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10}",
               operation, "bytes", "over", "algorithm", "median", "p10", "p90", "p99", "min", "max", "wall",
               "samples");
  if (with_floor) chorale::say(stdout, " {:>7} {:>7}", "floor", "ratio");
  if (with_check) chorale::say(stdout, " {:>8}", "check");
  chorale::say(stdout, "\n");
  std::fflush(stdout);
}

void print_rows(const std::vector<row>& rows) {
  for (const row& r : rows) {
    chorale::say(stdout,
                 "{:>9} {:<4} {:<24} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>10}",
                 r.bytes, r.transport, r.algorithm, r.median, r.p10, r.p90, r.p99, r.fastest, r.slowest,
                 r.wall, fmt::format("{}x{}", r.samples, r.calls));
    if (r.floor) chorale::say(stdout, " {:>7.3f} {:>7.2f}", *r.floor, *r.floor > 0 ? r.median / *r.floor : 0);
    if (r.wrong) chorale::say(stdout, " {:>8}", *r.wrong == 0 ? "right" : fmt::format("{} WRONG", *r.wrong));
    chorale::say(stdout, "\n");
  }
  std::fflush(stdout);
}

namespace {

nlohmann::ordered_json to_json(const result_row& whole) {
  const row& r = whole.measured;
  nlohmann::ordered_json one;
  if (is_of_set_up(whole)) one = {{"set_up", whole.set_up}, {"contestant", whole.contestant}};
  one.update({{"operation", r.operation},
              {"algorithm", r.algorithm},
              {"transport", r.transport},
              {"bytes", r.bytes},
              {"median", r.median},
              {"p10", r.p10},
              {"p90", r.p90},
              {"p99", r.p99},
              {"min", r.fastest},
              {"max", r.slowest},
              {"wall", r.wall},
              {"samples", r.samples},
              {"calls", r.calls}});
  if (r.floor) one["floor"] = *r.floor;
  if (r.wrong) one["wrong_ranks"] = *r.wrong;
  return one;
}

nlohmann::ordered_json to_json(const run_result& all) {
  nlohmann::ordered_json out;
  for (const auto& [key, list] :
       {std::pair{"about", &all.about}, {"machine", &all.machine}, {"run", &all.run}})
    for (const auto& [name, value] : *list) out[key][name] = value;
  out["ranks"] = all.ranks;
  out["unit"] = "us";
  out["rows"] = nlohmann::ordered_json::array();
  for (const result_row& one : all.rows) out["rows"].push_back(to_json(one));
  return out;
}

std::string dumped(const nlohmann::ordered_json& all) {
  return all.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string as_json(const run_result& all) {
  return dumped(to_json(all));
}

std::string as_json(const std::vector<named_result>& all) {
  auto list = nlohmann::ordered_json::array();
  for (const named_result& one : all) {
    list.push_back(to_json(one.what));
    list.back()["name"] = one.name;
  }
  return dumped(list);
}

void write_file(const std::string& file, const nlohmann::ordered_json& all) {
  replace_file(file, dumped(all));
}

progress::progress(bool wanted, bool quiet, std::size_t steps)
    : terminal_(isatty(STDERR_FILENO) == 1), steps_(steps) {
  on_ = !quiet && (wanted || terminal_);
}

void progress::step(const std::string& text) {
  if (!on_) return;
  // Erases a longer line that others may have written.
  if (terminal_) std::fputs("\r\033[K", stderr);
  chorale::say(stderr, "{}/{} {}{}", ++done_, steps_, text, terminal_ ? "" : "\n");
  shown_ = true;
  std::fflush(stderr);
}

void progress::finish() {
  if (on_ && terminal_ && shown_) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
  shown_ = false;
}

}  // namespace bench
