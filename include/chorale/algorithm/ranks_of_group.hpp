// SPDX-License-Identifier: Apache-2.0
// The ranks of a subset as errors and regions name them.
#pragma once

#include <cstddef>

#include <chorale/core/call.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// The number that rank `rank` of `net` has in the transport's whole group, which differs if `net` is a
/// `subset`.
template <class Net>
[[nodiscard]] int rank_in_group(const Net& net, int rank) noexcept {
  if constexpr (requires { net.rank_in_group(rank); })
    return net.rank_in_group(rank);
  else
    return rank;
}

/// Whether `region` says that rank `rank` of `net` exposes it.
template <class Net>
[[nodiscard]] bool is_owned_by(const Net& net, int rank, const remote_region& region) noexcept {
  return region.owner == chorale::rank_in_group(net, rank);
}

/// @throws error errc::mismatch that names two ranks of `net` and both sizes in bytes: rank `to` expects
/// `expected` from rank `from`, which sends `sent`.
template <class Net>
[[noreturn, gnu::cold]] void throw_unequal_sizes(const Net& net, call_id now, int to, std::size_t expected,
                                                 int from, std::size_t sent) {
  chorale::throw_unequal_sizes(now.what, chorale::rank_in_group(net, to), expected,
                               chorale::rank_in_group(net, from), sent);
}

}  // namespace chorale
