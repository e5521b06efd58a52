// One call of every collective, compared with results that each rank computes from the seed alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <chorale/communicator.hpp>

namespace inprocess {

using word = std::uint32_t;

/// Element `i` of the data of rank `from` for rank `to` (or for all ranks) in the test with that seed.
inline word element(std::uint64_t seed, int from, int to, std::size_t i) {
  std::uint64_t x = seed + static_cast<std::uint64_t>(from) * 0x9e3779b97f4a7c15ULL +
                    static_cast<std::uint64_t>(to + 1) * 0xc2b2ae3d27d4eb4fULL + i * 0x165667b19e3779f9ULL;
  x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9ULL;
  return static_cast<word>(x ^ x >> 29);
}
constexpr int everybody = -1;

/// Throws unless `data[i] == wanted(i)` for all i.
template <class Wanted>
void compare(const char* call, int rank, const std::vector<word>& data, Wanted&& wanted) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data[i] != wanted(i))
      throw std::runtime_error(std::string{call} + " of " + std::to_string(data.size()) + " words on rank " +
                               std::to_string(rank) + ": element " + std::to_string(i) + " is " +
                               std::to_string(data[i]) + ", not " + std::to_string(wanted(i)));
  }
}

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
  const int rank = comm.rank();
  const int size = comm.size();
  const auto mine = [&] {
    std::vector<word> data(count);
    for (std::size_t i = 0; i < count; ++i) data[i] = element(seed, rank, everybody, i);
    return data;
  };
  const auto sum_to = [&](int last, std::size_t i) {
    word sum = 0;
    for (int r = 0; r < last; ++r) sum += element(seed, r, everybody, i);
    return sum;
  };
  const auto total = [&](std::size_t i) { return sum_to(size, i); };
  const int root = static_cast<int>(seed % static_cast<unsigned>(size));

  auto data = mine();
  comm.allreduce(std::span{data}, chorale::sum);
  compare("allreduce", rank, data, total);

  data = mine();
  std::vector<word> out(count);
  comm.reduce(std::span<const word>{data}, std::span{out}, chorale::sum, root);
  if (rank == root) compare("reduce", rank, out, total);

  comm.scan(std::span{data}, chorale::sum);
  compare("scan", rank, data, [&](std::size_t i) { return sum_to(rank + 1, i); });

  std::vector<word> all(count * static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = element(seed, rank, everybody, i);
  comm.reduce_scatter(std::span<const word>{all}, std::span{out}, chorale::sum);
  compare("reduce_scatter", rank, out,
          [&](std::size_t i) { return total(count * static_cast<std::size_t>(rank) + i); });
}

template <class Comm>
void check_moves(Comm& comm, std::size_t count, std::uint64_t seed) {
  const int rank = comm.rank();
  const auto size = static_cast<std::size_t>(comm.size());
  const int root = static_cast<int>((seed + 1) % size);
  std::vector<word> mine(count);
  for (std::size_t i = 0; i < count; ++i) mine[i] = element(seed, rank, everybody, i);
  // Block b of `all` is from rank b or for rank b.
  std::vector<word> all(count * size);
  const auto owner = [&](std::size_t i) { return static_cast<int>(i / count); };
  const auto by_owner = [&](std::size_t i) { return element(seed, owner(i), everybody, i % count); };

  std::vector<word> data(count);
  if (rank == root) data = mine;
  comm.broadcast(std::span{data}, root);
  compare("broadcast", rank, data, [&](std::size_t i) { return element(seed, root, everybody, i); });

  comm.allgather(std::span<const word>{mine}, std::span{all});
  compare("allgather", rank, all, by_owner);

  std::fill(all.begin(), all.end(), word{0});
  if (rank == root)
    comm.gather(std::span<const word>{mine}, std::span{all}, root);
  else
    comm.gather(std::span<const word>{mine}, std::span<word>{}, root);
  if (rank == root) compare("gather", rank, all, by_owner);

  for (std::size_t i = 0; i < all.size(); ++i) all[i] = element(seed, rank, owner(i), i % count);
  comm.scatter(std::span<const word>{all}, std::span{data}, root);
  compare("scatter", rank, data, [&](std::size_t i) { return element(seed, root, rank, i); });

  std::vector<word> got(all.size());
  comm.alltoall(std::span<const word>{all}, std::span{got});
  compare("alltoall", rank, got, [&](std::size_t i) { return element(seed, owner(i), rank, i % count); });
}

}  // namespace inprocess
