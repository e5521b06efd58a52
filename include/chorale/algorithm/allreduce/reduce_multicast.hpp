// SPDX-License-Identifier: Apache-2.0
// Allreduce: a tree up, a multicast down.
#pragma once

#include <chorale/algorithm/allreduce/degree_k.hpp>
#include <chorale/algorithm/broadcast/multicast.hpp>

namespace chorale::allreduce {

/// A degree-k reduce to rank 0, whose result is distributed by reliable multicast, in one step for any n.
/// Evaluates in rank order, as `degree_k`, so operators need not commute. Any n. Cost: ceil(log_{k+1} n)
/// steps up, one multicast per datagram down. Source: P2 section 4.2 for the way up, P1 sections 3.3 and 4.3
/// for the way down.
template <int Degree>
struct reduce_multicast : degree_k<Degree, broadcast::multicast> {
  static constexpr bool needs_multicast = true;
};

}  // namespace chorale::allreduce
