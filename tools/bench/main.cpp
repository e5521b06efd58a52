// chorale-bench: the latency of the collectives, algorithm by algorithm.
#include <exception>
#include <optional>

#include <fmt/format.h>

#include <chorale/bootstrap/pmix.hpp>

#include "floor.hpp"
#include "program.hpp"

namespace {

/// Of this process's rank. @returns the exit status.
int run(const bench::program_options& o, bool with_floor) {
  std::optional<bench::flag_floor> floor;
  bench::place here{"chorale-bench", {{"chorale", CHORALE_TOOLS_VERSION}}, {}};
  if (with_floor)
    here.prepare = [&](chorale::communicator<>& control, bench::facts& about, bench::surroundings& around) {
      floor.emplace(control);
      if (floor->available())
        around.floor = [&floor] { return floor->run(200); };
      else
        about.emplace_back("floor", "not measured: " + floor->reason());
    };
  return run_rank(o, here, bench::any_group{chorale::bootstrap::pmix{}});
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
  app.set_version_flag("--version", CHORALE_TOOLS_VERSION);
  if (const int status = bench::parse(app, argc, argv); status >= 0) return status;
  if (o.list) {
    if (bench::may_speak()) bench::print_list();
    return 0;
  }
  try {
    bench::settle(o);
    return run(o, floor);
  } catch (const std::exception& e) {
    fmt::print(stderr, "chorale-bench: {}\n", e.what());
    return 1;
  }
}
