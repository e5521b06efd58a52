// SPDX-License-Identifier: Apache-2.0
// Every collective call in each of its forms, with a check of its result, for memory_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <chorale/communicator.hpp>

namespace robustness {

/// The buffers of a rank's calls, allocated in advance.
struct buffers {
  buffers(int of, int ranks) : rank(of), size(ranks) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] -= 10 * i;
    for (const std::size_t count : counts) total += count;
  }

  static constexpr std::size_t block = 9000;
  int rank;
  int size;
  std::vector<long> sum = std::vector<long>(5000, 1);
  std::vector<int> mine = std::vector<int>(block * static_cast<std::size_t>(size), rank);
  std::vector<int> theirs = std::vector<int>(mine.size(), -1);
  std::vector<int> few = std::vector<int>(3, rank);
  std::vector<std::vector<int>> parts = std::vector<std::vector<int>>(static_cast<std::size_t>(size), few);
  std::vector<chorale::outgoing> sends{chorale::to((rank + 1) % size, few)};
  /// The sizes of a block for each rank: equal, and different.
  std::vector<std::size_t> blocks = std::vector<std::size_t>(static_cast<std::size_t>(size), block);
  std::vector<std::size_t> counts = blocks;
  std::size_t total = 0;  ///< of `counts`

  void begin() {
    std::fill(sum.begin(), sum.end(), 1);
    std::fill(theirs.begin(), theirs.end(), -1);
  }

  /// The root of all calls that have one, of which rank 0 is not the root.
  [[nodiscard]] chorale::root root() const { return chorale::root{size - 1}; }
  [[nodiscard]] bool is_root() const { return rank == size - 1; }
  [[nodiscard]] std::size_t count() const { return counts[static_cast<std::size_t>(rank)]; }
  /// The sum of `mine` of all ranks.
  [[nodiscard]] int sum_of_ranks() const { return size * (size - 1) / 2; }
  [[nodiscard]] std::span<const int> first(std::size_t n) const { return std::span{mine}.first(n); }
  [[nodiscard]] std::span<int> room(std::size_t n) { return std::span{theirs}.first(n); }

  /// True if `all` are the numbers of the ranks, each as often as `sizes` says.
  [[nodiscard]] static bool are_ranks(std::span<const int> all, std::span<const std::size_t> sizes) {
    std::size_t at = 0;
    for (std::size_t r = 0; r < sizes.size(); ++r)
      for (std::size_t i = 0; i < sizes[r]; ++i, ++at)
        if (at == all.size() || all[at] != static_cast<int>(r)) return false;
    return at == all.size();
  }
};

template <class Elements>
bool are_all(const Elements& these, typename Elements::value_type value) {
  return std::count(these.begin(), these.end(), value) == static_cast<std::ptrdiff_t>(these.size());
}

/// A sum whose copies need memory, since it is larger than the room for an operator in a call.
struct large_sum {
  std::array<int, 64> bias{};
  int operator()(int left, int right) const { return left + right + bias.back(); }
};

/// Makes calls; true if their results are correct.
template <class Comm>
struct subject {
  const char* name;
  bool (*calls)(Comm&, buffers&);
};

template <class Comm>
constexpr subject<Comm> collective_calls[]{
    {"barrier",
     [](Comm& comm, buffers&) {
       comm.barrier();
       return true;
     }},
    {"broadcast",
     [](Comm& comm, buffers& b) {
       if (b.is_root()) std::fill(b.theirs.begin(), b.theirs.end(), 7);
       comm.broadcast(b.theirs, b.root());
       return are_all(b.theirs, 7);
     }},
    {"reduce",
     [](Comm& comm, buffers& b) {
       comm.reduce(chorale::in_place, b.sum, chorale::sum, b.root());
       return !b.is_root() || are_all(b.sum, static_cast<long>(b.size));
     }},
    {"reduce of a value",
     [](Comm& comm, buffers& b) {
       const auto sum = comm.reduce(1, chorale::sum, b.root());
       return sum.value_or(b.size) == b.size && sum.has_value() == b.is_root();
     }},
    {"allreduce",
     [](Comm& comm, buffers& b) {
       comm.allreduce(b.first(b.block), b.room(b.block), chorale::sum);
       return are_all(b.room(b.block), b.sum_of_ranks());
     }},
    {"allreduce with a large operator",
     [](Comm& comm, buffers& b) {
       comm.allreduce(b.first(b.block), b.room(b.block), large_sum{});
       return are_all(b.room(b.block), b.sum_of_ranks());
     }},
    {"allgather",
     [](Comm& comm, buffers& b) {
       comm.allgather(b.first(b.block), b.theirs);
       return b.are_ranks(b.theirs, b.blocks);
     }},
    {"allgather that returns its result",
     [](Comm& comm, buffers& b) { return b.are_ranks(comm.allgather(b.first(b.block)), b.blocks); }},
    {"allgatherv",
     [](Comm& comm, buffers& b) {
       comm.allgatherv(b.first(b.count()), b.room(b.total), b.counts);
       return b.are_ranks(b.room(b.total), b.counts);
     }},
    {"allgatherv of unknown counts",
     [](Comm& comm, buffers& b) { return b.are_ranks(comm.allgatherv(b.first(b.count())).data, b.counts); }},
    {"alltoall that returns its result",
     [](Comm& comm, buffers& b) { return b.are_ranks(comm.alltoall(b.mine), b.blocks); }},
    {"alltoallv",
     [](Comm& comm, buffers& b) {
       std::fill(b.blocks.begin(), b.blocks.end(), b.count());
       const auto taken = b.room(b.count() * b.blocks.size());
       comm.alltoallv(b.first(b.total), b.counts, taken, b.blocks);
       return b.are_ranks(taken, b.blocks);
     }},
    {"alltoallv of unknown counts",
     [](Comm& comm, buffers& b) {
       const auto taken = comm.alltoallv(b.parts);
       return b.are_ranks(taken.data, taken.counts) && are_all(taken.counts, b.few.size());
     }},
    {"gather",
     [](Comm& comm, buffers& b) {
       comm.gather(b.first(b.block), b.theirs, b.root());
       return !b.is_root() || b.are_ranks(b.theirs, b.blocks);
     }},
    {"gather that returns its result",
     [](Comm& comm, buffers& b) {
       const auto all = comm.gather(b.first(b.block), b.root());
       return all.has_value() == b.is_root() && (!all || b.are_ranks(*all, b.blocks));
     }},
    {"gatherv",
     [](Comm& comm, buffers& b) {
       comm.gatherv(b.first(b.count()), b.room(b.total), b.counts, {}, b.root());
       return !b.is_root() || b.are_ranks(b.room(b.total), b.counts);
     }},
    {"gatherv of unknown counts",
     [](Comm& comm, buffers& b) {
       const auto all = comm.gatherv(b.first(b.count()), b.root());
       return all.has_value() == b.is_root() && (!all || b.are_ranks(all->data, b.counts));
     }},
    {"scatter",
     [](Comm& comm, buffers& b) {
       comm.scatter(b.mine, b.room(b.block), b.root());
       return are_all(b.room(b.block), b.size - 1);
     }},
    {"scatter of one element for each rank",
     [](Comm& comm, buffers& b) { return comm.scatter(b.counts, b.root()) == b.count(); }},
    {"scatterv",
     [](Comm& comm, buffers& b) {
       comm.scatterv(b.first(b.total), b.counts, b.room(b.count()), {}, b.root());
       return are_all(b.room(b.count()), b.size - 1);
     }},
    {"scatterv of unknown counts",
     [](Comm& comm, buffers& b) {
       const auto mine = comm.scatterv(b.parts, b.root());
       return mine.size() == b.few.size() && are_all(mine, b.size - 1);
     }},
    {"reduce_scatter",
     [](Comm& comm, buffers& b) {
       comm.reduce_scatter(b.mine, b.room(b.block), chorale::sum);
       return are_all(b.room(b.block), b.sum_of_ranks());
     }},
    {"reduce_scatter of different counts",
     [](Comm& comm, buffers& b) {
       comm.reduce_scatter(b.first(b.total), b.room(b.count()), b.counts, chorale::sum);
       return are_all(b.room(b.count()), b.sum_of_ranks());
     }},
    {"scan",
     [](Comm& comm, buffers& b) {
       comm.scan(chorale::in_place, b.sum, chorale::sum);
       return are_all(b.sum, static_cast<long>(b.rank) + 1);
     }},
    {"exscan",
     [](Comm& comm, buffers& b) {
       comm.exscan(chorale::in_place, b.sum, chorale::initial{10L}, chorale::sum);
       return are_all(b.sum, static_cast<long>(b.rank) + 10);
     }},
    {"exchange", [](Comm& comm, buffers& b) {
       const int before = (b.rank + b.size - 1) % b.size;
       comm.exchange({chorale::to((b.rank + 1) % b.size, b.first(b.block))},
                     {chorale::from(before, b.room(b.block))});
       return are_all(b.room(b.block), before);
     }}};

}  // namespace robustness
