// SPDX-License-Identifier: Apache-2.0
// Gather and multicast barrier.
#pragma once

#include <chorale/topology/gather_tree.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::barrier {

/// The ranks signal up a tree of fan-in FanIn = 2^m - 1 (7 did best in the paper) to rank 0, which then ends
/// the call for all ranks by one multicast. Cost: ceil(log_{FanIn+1} n) steps of at most FanIn signals, and
/// one multicast for any n; if the multicast is lost, also a NAK and another multicast. Any n. Source: P1
/// sections 3.3, 4.3 and 5.4 (RGM).
///
/// A rank joins the multicast group before it signals, so all ranks listen when rank 0 multicasts. A signal
/// is overwritten by later ones: a wait for call n is satisfied by call n or a later one, and no rank can be
/// two calls ahead.
template <int FanIn = topology::best_fan_in>
struct gather_multicast {
  static_assert(topology::valid_degree(FanIn), "the fan-in of a gather tree is 2^m - 1: 1, 3, 7, 15, ...");
  static constexpr auto implements = operation::barrier;
  static constexpr bool needs_multicast = true;
  template <class Net>
  static constexpr bool runs_on = multicast_transport<Net>;

  template <multicast_transport Net>
  static task<> run(Net& net, call_id now) {
    const topology::gather_tree tree{net.rank(), net.size(), FanIn};
    net.join_multicast();
    for (const int child : tree.children()) co_await net.signalled(child, now);
    if (tree.is_root()) {
      co_await net.multicast_signal(now);
    } else {
      co_await net.signal(tree.parent(), now);
      co_await net.multicast_signalled(0, now);
    }
  }
};

}  // namespace chorale::barrier
