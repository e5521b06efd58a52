// SPDX-License-Identifier: Apache-2.0
// Communicators of parts of a group of processes: members, order, independence, and requests of several
// communicators. Usage: groups [TRIALS]
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/communicator.hpp>

#include "../support/seed.hpp"

namespace {

using communicator = chorale::communicator<>;

void expect(bool right, const std::string& what) {
  if (!right) throw std::runtime_error(what);
}

/// Random colours and keys, the same plan on all ranks.
void splits(communicator& comm, std::mt19937_64& plan) {
  std::vector<int> colors;
  std::vector<int> keys;
  for (int r = 0; r < comm.size(); ++r) {
    const int color = static_cast<int>(plan() % 4) - 1;
    colors.push_back(color < 0 ? chorale::undefined_color : color);
    keys.push_back(static_cast<int>(plan() % 3));
  }
  const auto me = static_cast<std::size_t>(comm.rank());
  auto part = comm.split(colors[me], chorale::key{keys[me]});
  std::vector<std::pair<int, int>> expected;
  for (std::size_t r = 0; r < colors.size(); ++r) {
    if (colors[r] == colors[me] && colors[me] >= 0) expected.emplace_back(keys[r], static_cast<int>(r));
  }
  std::sort(expected.begin(), expected.end());
  expect(!part == expected.empty(), "a rank has a part that it should not have, or none");
  if (!part) return;
  const int mine = comm.rank();
  std::vector<int> members(static_cast<std::size_t>(part->size()));
  part->allgather(std::span<const int>{&mine, 1}, std::span{members});
  expect(members.size() == expected.size(), "a part has another size");
  for (std::size_t i = 0; i < members.size(); ++i)
    expect(members[i] == expected[i].second, "members are others");
}

/// Barriers and sums of four communicators, awaited in a different order on each rank.
void side_by_side(communicator& comm, std::uint64_t seed) {
  std::vector<communicator> others;
  for (int i = 0; i < 3; ++i)
    others.push_back(*comm.split(0, chorale::key{i % 2 == 0 ? comm.rank() : -comm.rank()}));
  std::mt19937_64 plan{seed};
  std::mt19937_64 own{seed + 77U * static_cast<unsigned>(comm.rank() + 1)};
  constexpr std::size_t calls = 200;
  std::vector<std::vector<std::int64_t>> data(calls);
  std::vector<chorale::request> begun;
  for (std::size_t i = 0; i < calls; ++i) {
    communicator& one = plan() % 4 == 0 ? comm : others[plan() % others.size()];
    data[i].assign(plan() % 3000, static_cast<std::int64_t>(i) + comm.rank());
    begun.push_back(plan() % 3 == 0 ? one.ibarrier()
                                    : one.iallreduce(chorale::in_place, std::span{data[i]}, chorale::sum));
  }
  std::vector<std::size_t> order(calls);
  for (std::size_t i = 0; i < calls; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), own);
  for (const std::size_t i : order) begun[i].wait();
  // Computed from another plan with the same seed.
  std::mt19937_64 again{seed};
  for (std::size_t i = 0; i < calls; ++i) {
    if (again() % 4 != 0) again();
    again();
    const bool reduced = again() % 3 != 0;
    const std::int64_t n = comm.size();
    const std::int64_t sum = static_cast<std::int64_t>(i) * n + n * (n - 1) / 2;
    for (const auto v : data[i])
      expect(v == (reduced ? sum : static_cast<std::int64_t>(i) + comm.rank()), "a sum is wrong");
  }
}

/// One rank cannot make its endpoint: its part fails with an error that names the rank; nothing else is
/// affected.
void failing_part(communicator& comm) {
  const int color = comm.rank() % 2;
  static_cast<void>(comm.split(color));  // makes all connections that it needs
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  if (comm.rank() == 0) {
    const rlimit none{3, before.rlim_max};
    expect(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit failed");
  }
  std::optional<communicator> part;
  try {
    part = comm.split(color);
    expect(color == 1, "a communicator was made without file descriptors");
  } catch (const chorale::error& e) {
    expect(color == 0, e.what());
    if (comm.rank() != 0) {
      expect(e.code() == chorale::errc::bootstrap_failed, e.what());
      expect(e.ranks() == std::vector<int>{0}, e.what());
    }
  }
  if (comm.rank() == 0) setrlimit(RLIMIT_NOFILE, &before);
  if (part) part->barrier();
  comm.barrier();
  comm.split(color)->barrier();
}

}  // namespace

int main(int count, char** words) try {
  const int trials = count > 1 ? std::atoi(words[1]) : 4;
  communicator comm;
  const auto seed = support::common_seed(comm);
  std::mt19937_64 plan{seed};
  failing_part(comm);
  for (int i = 0; i < trials; ++i) {
    splits(comm, plan);
    side_by_side(comm, seed + static_cast<unsigned>(i));
  }
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "groups: {}\n", e.what());
  return 1;
}
