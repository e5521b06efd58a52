// SPDX-License-Identifier: Apache-2.0
// chorale-bench: the latency of the collectives, algorithm by algorithm.
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <chorale/bootstrap/launched.hpp>

#include "../../lib/core/printable.hpp"
#include "floor.hpp"
#include "program.hpp"

namespace {

/// Runs this process's rank. @returns the exit status.
int run(const bench::program_options& o, bool with_floor) {
  std::optional<bench::flag_floor> floor;
  bench::place here{"chorale-bench", {{"chorale", CHORALE_TOOLS_VERSION}}, {}};
  if (with_floor)
    here.prepare = [&](chorale::communicator<>& control, bench::facts& about, bench::sample_hooks& hooks) {
      floor.emplace(control);
      if (floor->available())
        hooks.floor = [&floor] { return floor->run(200); };
      else
        about.emplace_back("floor", "not measured: " + floor->reason());
    };
  return run_rank(o, here, bench::any_group{chorale::bootstrap::launched{}});
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Measures Chorale's collectives. Start it with a launcher: mpirun -n 4 chorale-bench allreduce\n"
      "Exit status: 0; 1 if a result was wrong or a call failed; 2 for a mistake in the options.",
      "chorale-bench"};
  bench::program_options o;
  bench::add_program_options(app, o);
  bool floor = false;
  app.add_flag("--floor", floor, "Measure the latency of a flag between ranks 0 and 1 in between");
  std::vector<std::string> from;
  app.add_option("--from", from,
                 "Measure nothing: show what an earlier run has written by --json, with pictures if they are "
                 "asked for; several times: side by side")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->excludes("--json")
      ->excludes("--table")
      ->excludes("--set-ups")
      ->excludes("--fresh");
  app.set_version_flag("--version", CHORALE_TOOLS_VERSION);
  if (const int status = bench::parse(app, argc, argv); status >= 0) return status;
  if (o.list) {
    if (bench::may_speak()) bench::print_list();
    return 0;
  }
  if (from.size() > 1 && !o.outputs.csv.empty()) {
    if (bench::may_speak())
      chorale::say(stderr, "chorale-bench: --csv takes one --from: give each file a table of its own\n");
    return 2;
  }
  try {
    if (!from.empty()) {
      if (bench::may_speak()) bench::show_again(from, o.operations, o.outputs);
      return 0;
    }
    bench::settle(o);
    return run(o, floor);
  } catch (const std::exception& e) {
    chorale::say(stderr, "chorale-bench: {}\n", e.what());
    return 1;
  }
}
