// SPDX-License-Identifier: Apache-2.0
// A program that runs on 64 ranks of a simulated cluster: ranks are fibers of this process, the network is
// simulated, and time is virtual. Its output is the same in every run.
//
//   12_virtual_time [MACHINE [RANKS]]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include <chorale/chorale.hpp>
#include <chorale/simulation/run.hpp>

namespace sim = chorale::simulation;

namespace {

constexpr int steps = 20;

/// The measurements of a rank.
struct outcome {
  double sum = 0;
  sim::duration a_step{};
};

/// A step of some solver: the rank computes for a while, some longer than others, and all add up what they
/// have. How long do they wait for each other?
outcome solve(sim::group& group) {
  chorale::communicator<> comm{group, chorale::config{}};
  double sum = 0;
  comm.barrier();
  const sim::instant begin = sim::now();
  for (int step = 0; step < steps; ++step) {
    const int uneven = (comm.rank() * 7 + step * 3) % 10;
    sim::compute(std::chrono::microseconds{20 + uneven});
    sum = comm.allreduce(static_cast<double>(comm.rank() + step), std::plus<>{});
  }
  return {sum, (sim::now() - begin) / steps};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const sim::machine cluster = sim::read_machine(argc > 1 ? argv[1] : "hdr-64core");
    const int ranks = argc > 2 ? std::atoi(argv[2]) : 64;
    // One thread runs all ranks: what they share needs no lock.
    std::vector<outcome> found(static_cast<std::size_t>(std::max(ranks, 0)));
    const sim::run_result all = sim::run(ranks, cluster, [&](sim::group& group) {
      found[static_cast<std::size_t>(group.rank())] = solve(group);
    });

    const double expected = ranks * (ranks - 1) / 2.0 + ranks * (steps - 1.0);
    for (const outcome& one : found) {
      if (one.sum != expected) {
        std::cerr << "a rank has the sum " << one.sum << " instead of " << expected << '\n';
        return 1;
      }
    }
    const auto microseconds = [](sim::duration time) { return static_cast<double>(time.count()) / 1e6; };
    std::cout << ranks << " ranks of " << cluster.name << ": a step takes " << microseconds(found[0].a_step)
              << " us, of which each rank computes 20 to 29\n"
              << "all is over after " << microseconds(all.elapsed) << " us of virtual time and " << all.events
              << " events\n";
    return 0;
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
