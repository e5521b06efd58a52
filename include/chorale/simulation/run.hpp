// SPDX-License-Identifier: Apache-2.0
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

/// The options of a run.
struct run_options {
  /// For all random numbers: the same program, machine and seed give the same history.
  std::uint64_t seed = 1;
  /// In virtual time: a longer run ends with an error that names what each rank does.
  duration longest = std::chrono::minutes{10};
  /// The size of each rank's stack, in bytes. Only touched pages take memory.
  std::size_t stack_bytes = std::size_t{1} << 20;
  /// The faults of the run.
  faults wrong;
  /// The longest time between two polls by a rank while nothing changes for it. Larger values make long waits
  /// cheaper to simulate, and their ends less exact.
  duration longest_gap = std::chrono::microseconds{20};
  /// The shortest such time: larger values make short waits cheaper to simulate. Events wake the rank at the
  /// same instant with any value; only reactions to the passing of time come late, by up to this much.
  duration shortest_gap{};
  /// Records the run; null: no records. It must outlive the run.
  recorder* record = nullptr;
  /// Called after each 65,536 events with the time and the number of events, to report progress. It does not
  /// affect the simulation.
  std::function<void(instant now, std::uint64_t events)> progress;
};

/// The outcome of a simulation.
struct run_result {
  duration elapsed{};              ///< when the last rank ended
  std::uint64_t events = 0;        ///< the number of events
  std::vector<link_load> links{};  ///< the links that carried anything, by number
};

/// Runs `body(group&)` on `ranks` ranks of `machine` in virtual time, all in the calling thread. Each rank
/// finds sim0, the adapter of its host. If the machine says what is `near` and some host has several ranks,
/// each also finds soft0, by which it reaches the ranks of its own host. Rethrows the exception that escaped
/// a body first in virtual time: those of other ranks are often its consequences. A body must not wait for a
/// real thread, nor for another rank except through the library: there is one thread, and virtual time stands
/// still while it runs.
///
/// Not callable from inside a simulation. Threads may run simulations of their own at the same time.
/// @throws error errc::invalid_argument if the machine has no room for `ranks`; errc::deadline if no rank can
/// continue, or after `options.longest`, naming what each rank does; in the latter case bodies are
/// abandoned without running destructors.
run_result run(int ranks, const machine& on, const std::function<void(group&)>& body,
               const run_options& options = {});

/// The running rank's time since the simulation began. @throws error errc::misuse outside of `run`.
[[nodiscard]] instant now();

/// The running rank computes for `time`, which is not negative. @throws error errc::misuse outside of `run`.
void compute(duration time);

}  // namespace chorale::simulation
