// What a communicator needs to know before its ranks can reach each other.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/lean_chrono.hpp>

namespace chorale::bootstrap {

/// One opaque message of each rank, in the order of the ranks.
using cards = std::vector<std::vector<std::byte>>;

/// A group of ranks before there is any communicator: who am I, how many are we, and one all-to-all exchange
/// of small messages. `exchange` is collective: every rank calls it equally often; once it has returned on
/// one rank it must return on all without any further call of that one. It throws `error`
/// errc::bootstrap_failed when `deadline` passes first, unless that is zero, and should when a rank is dead.
/// `job()` is the same text on all ranks of a job and differs between jobs. `describe()` says in a sentence
/// how the group came to be (launcher, singleton). Optional: `local_rank()`, the number of this rank among
/// those of its host, from 0, by which ranks take turns where config::device names several devices; without
/// it they do by `rank()`; and `composition()`, a text that is to be the same on all ranks, such as the
/// algorithms of a communicator.
template <class G>
concept group = requires(G& g, std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
  { g.rank() } -> std::convertible_to<int>;
  { g.size() } -> std::convertible_to<int>;
  { g.job() } -> std::convertible_to<std::string>;
  { g.describe() } -> std::convertible_to<std::string>;
  { g.exchange(mine, deadline) } -> std::same_as<cards>;
};

/// What a group says if it has an optional member, and what stands for it if it has not.
template <group G>
int local_rank_of(G& group) {
  if constexpr (requires { group.local_rank(); })
    return group.local_rank();
  else
    return group.rank();
}
/// The same of `composition()`; empty if it has none.
template <group G>
std::string composition_of(G& group) {
  if constexpr (requires { group.composition(); })
    return group.composition();
  else
    return {};
}

}  // namespace chorale::bootstrap
