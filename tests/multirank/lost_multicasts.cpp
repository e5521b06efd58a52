// SPDX-License-Identifier: Apache-2.0
// Runs of the gather and multicast barrier while datagrams are lost: each completes, and its cost is
// reported. Usage: lost_multicasts [RUNS [FAN_IN]]; the fan-in is 1, 3, 7 or 15. Losses are the device's:
// CHORALE_SOFT_ENGINE= deferred with CHORALE_SOFT_LOSS, or netem in the lab.
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <span>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

#include "../support/collectives/checks.hpp"
#include "../support/seed.hpp"
#include "engine_report.hpp"

using namespace collectives;
using chorale::transport::rc;

namespace {

template <int FanIn>
void run(chorale::communicator<>& control, int runs, std::uint64_t seed) {
  chorale::communicator<rc, chorale::barrier::gather_multicast<FanIn>> comm;
  const auto begin = chorale::clock::now();
  for (int i = 0; i < runs; ++i) {
    // Occasionally a rank is late.
    const auto n = noise(seed, comm.rank(), static_cast<std::size_t>(i));
    if (n % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds{n / 64 % 1000});
    if (n % 16 == 0 || i % 16 != 0)
      comm.barrier();
    else
      await(comm.ibarrier());
    if (i % 100 == 0) check_barrier(comm);
  }
  control.barrier();
  const std::chrono::duration<double> took = chorale::clock::now() - begin;
  const auto s = comm.transport().multicast_statistics();
  std::vector<std::uint64_t> sums{s.signals,       s.repairs,          s.naks_sent,
                                  s.naks_received, s.acknowledgements, s.refused};
  control.allreduce(chorale::in_place, std::span{sums}, chorale::sum);
  if (comm.rank() == 0)
    fmt::print(
        "{} barriers of {} ranks, fan-in {}, in {:.2f} s: {} multicasts, {} of them again; {} NAKs sent, {} "
        "arrived; {} acknowledgements, {} datagrams refused\n",
        sums[0], comm.size(), FanIn, took.count(), sums[0] + sums[1], sums[1], sums[2], sums[3], sums[4],
        sums[5]);
  multirank::report_engine(comm);
  if (sums[4] != 0 || sums[5] != 0)
    throw wrong("a barrier sends no acknowledgements, and nothing that is refused");
}

}  // namespace

int main(int count, char** words) try {
  const int runs = count > 1 ? std::atoi(words[1]) : 10'000;
  const int fan_in = count > 2 ? std::atoi(words[2]) : 7;
  chorale::communicator<> control;
  const auto seed = support::common_seed(control);
  switch (fan_in) {
    case 1:
      run<1>(control, runs, seed);
      break;
    case 3:
      run<3>(control, runs, seed);
      break;
    case 15:
      run<15>(control, runs, seed);
      break;
    default:
      run<7>(control, runs, seed);
  }
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "lost_multicasts: {}\n", e.what());
  return 1;
}
