// SPDX-License-Identifier: Apache-2.0
// One call of every collective, compared with a serial computation, and barriers of ranks that are threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "../support/collectives/checks.hpp"

namespace inprocess {

using word = std::uint32_t;

/// Element `i` of what rank `from` has for rank `to` in the test with that seed.
inline word element(std::uint64_t seed, int from, int to, std::size_t i) {
  return collectives::letter<word>(seed, from, to, i);
}
constexpr int everybody = -1;

/// Checks the barriers of ranks that are threads: no rank leaves a barrier before all have entered it.
class barrier_witness {
 public:
  explicit barrier_witness(int size) : came_(static_cast<std::size_t>(size)) {}
  template <class Comm>
  void check(Comm& comm) {
    auto& mine = came_[static_cast<std::size_t>(comm.rank())];
    const int round = ++mine;
    comm.barrier();
    for (const auto& other : came_) {
      if (other < round)
        throw std::runtime_error("rank " + std::to_string(comm.rank()) + " left barrier " +
                                 std::to_string(round) + " before all had come");
    }
  }

 private:
  std::vector<std::atomic<int>> came_;
};

template <class Comm>
void check_reductions(Comm& comm, std::size_t count, std::uint64_t seed) {
  const int root = static_cast<int>(seed % static_cast<unsigned>(comm.size()));
  collectives::check_allreduce<word>(comm, count, chorale::sum, seed, {.in_place = true});
  collectives::check_reduce<word>(comm, count, root, chorale::sum, seed);
  collectives::check_scan<word>(comm, count, chorale::sum, true, seed);
  collectives::check_reduce_scatter<word>(comm, count, chorale::sum, seed);
}

template <class Comm>
void check_moves(Comm& comm, std::size_t count, std::uint64_t seed) {
  const int root = static_cast<int>((seed + 1) % static_cast<unsigned>(comm.size()));
  collectives::check_broadcast<word>(comm, count, root, seed);
  collectives::check_allgather<word>(comm, count, seed);
  collectives::check_gather<word>(comm, count, root, seed);
  collectives::check_scatter<word>(comm, count, root, seed);
  collectives::check_alltoall<word>(comm, count, seed);
}

/// Makes all these calls with each number of words, between barriers.
template <class Comm>
void check_calls(Comm& comm, barrier_witness& witness, std::initializer_list<std::size_t> counts,
                 std::uint64_t seed) {
  for (const std::size_t count : counts) {
    witness.check(comm);
    inprocess::check_moves(comm, count, seed + count);
    inprocess::check_reductions(comm, count, seed + count);
    witness.check(comm);
  }
}

}  // namespace inprocess
