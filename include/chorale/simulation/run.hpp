// Running ranks in virtual time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <chorale/simulation/faults.hpp>
#include <chorale/simulation/group.hpp>
#include <chorale/simulation/link_load.hpp>
#include <chorale/simulation/machine/machine.hpp>
#include <chorale/simulation/recorder.hpp>
#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// What a run may be told besides ranks, machine and body.
struct run_options {
  /// Of all random numbers: the same program, machine and seed give the same history.
  std::uint64_t seed = 1;
  /// Of virtual time: a run that lasts longer ends with an error that says what each rank does.
  duration longest = std::chrono::minutes{10};
  /// Of each rank's stack, in bytes. Only what it has touched is memory.
  std::size_t stack_bytes = std::size_t{1} << 20;
  /// What goes wrong.
  faults wrong;
  /// How long a rank that polls is left alone at most while nothing happens that it could see. Longer ones
  /// make long waits cheaper to simulate, and their ends less exact.
  duration longest_gap = std::chrono::microseconds{20};
  /// How long it is left alone at least: short waits become cheaper to simulate. What happens wakes it at the
  /// same instant as ever; what it does because time has passed comes late by as much.
  duration shortest_gap{};
  /// Who notes what happens; null: nobody. It has to live as long as the run.
  recorder* record = nullptr;
  /// Called after each 65,536 events with the time and how many there have been, for who wants to show how
  /// far it is. It does nothing with the simulation.
  std::function<void(instant now, std::uint64_t events)> progress;
};

/// What a simulation has been.
struct run_result {
  duration elapsed{};              ///< when the last rank ended
  std::uint64_t events = 0;        ///< how many have happened
  std::vector<link_load> links{};  ///< those that carried anything, by number
};

/// Runs `body(group&)` on so many ranks of `machine` in virtual time, all of them in the calling thread; each
/// finds one device, sim0, the adapter of its host. Rethrows the exception that a body let out first, in
/// virtual time: those of other ranks are often its consequences. Nothing in a body may wait for a real
/// thread, or for another rank by other means than the library's: there is one thread, and virtual time
/// stands still while it runs.
///
/// Not from inside a simulation. Threads may run simulations of their own at the same time.
/// @throws error errc::invalid_argument if the machine has not room for so many ranks; errc::deadline if
/// nobody can go on, or at the end of `options.longest`, naming what each rank does; in the latter case
/// bodies are given up where they are, without running destructors.
run_result run(int ranks, const machine& on, const std::function<void(group&)>& body,
               const run_options& options = {});

/// The time of the rank that runs, since the simulation began. @throws error errc::misuse outside of `run`.
[[nodiscard]] instant now();

/// The rank that runs computes for so long: nothing negative. @throws error errc::misuse outside of `run`.
void compute(duration time);

}  // namespace chorale::simulation
