// SPDX-License-Identifier: Apache-2.0
// What a communicator needs before its ranks can reach each other.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace chorale::bootstrap {

/// One opaque message per rank, in rank order.
using cards = std::vector<std::vector<std::byte>>;

/// A group of ranks before there is a communicator: rank, size, and an all-to-all exchange of small messages.
/// `exchange` is collective: every rank calls it equally often; once it has returned on one rank, it must
/// return on all without further calls by that rank. It throws `error` errc::bootstrap_failed if `deadline`
/// (unless zero) passes first, and should do so if a rank is dead. `job()` is the same text on all ranks of a
/// job and differs between jobs. `describe()` says in one sentence how the group was started (launcher,
/// singleton). Optional members: `local_rank()`, the number of this rank on its host, from 0, by which
/// devices are assigned if there are several (default: `rank()`); `composition()`, a text that must be the
/// same on all ranks, such as the algorithms of a communicator; and `singleton()`, whether this is one rank
/// that no launcher started.
template <class Group>
concept group = requires(Group& g, std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
  { g.rank() } -> std::convertible_to<int>;
  { g.size() } -> std::convertible_to<int>;
  { g.job() } -> std::convertible_to<std::string>;
  { g.describe() } -> std::convertible_to<std::string>;
  { g.exchange(mine, deadline) } -> std::same_as<cards>;
};

/// The group's `local_rank()`, or its default if the group has no such member.
template <group Group>
int local_rank_of(Group& group) {
  if constexpr (requires { group.local_rank(); })
    return group.local_rank();
  else
    return group.rank();
}
/// The group's `singleton()`; false if it has none.
template <group Group>
bool is_singleton(Group& group) {
  if constexpr (requires { group.singleton(); })
    return group.singleton();
  else
    return false;
}
/// The group's `composition()`; empty if it has none.
template <group Group>
std::string composition_of(Group& group) {
  if constexpr (requires { group.composition(); })
    return group.composition();
  else
    return {};
}

}  // namespace chorale::bootstrap
