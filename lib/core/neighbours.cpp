// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include <chorale/core/neighbours.hpp>

namespace chorale {
namespace {

/// Up to this many messages are sorted by insertion, which allocates no memory.
constexpr std::size_t few = 16;

template <class Message>
void order(int rank, int ranks, std::span<const Message> list, std::vector<Message>& ordered) {
  const auto distance = [&](const Message& m) { return distance_of(m.peer, rank, ranks); };
  const auto is_nearer = [&](const Message& a, const Message& b) { return distance(a) < distance(b); };
  ordered.clear();
  for (const Message& m : list)
    if (m.peer != nobody) ordered.push_back(m);
  if (ordered.size() > few) return std::stable_sort(ordered.begin(), ordered.end(), is_nearer);
  for (auto next = ordered.begin(); next != ordered.end(); ++next)
    std::rotate(std::upper_bound(ordered.begin(), next, *next, is_nearer), next, std::next(next));
}

}  // namespace

void order_by_distance(int rank, int ranks, std::span<const outgoing> list, std::vector<outgoing>& ordered) {
  order(rank, ranks, list, ordered);
}
void order_by_distance(int rank, int ranks, std::span<const incoming> list, std::vector<incoming>& ordered) {
  order(rank, ranks, list, ordered);
}

}  // namespace chorale
