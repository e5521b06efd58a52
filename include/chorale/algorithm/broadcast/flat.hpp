// SPDX-License-Identifier: Apache-2.0
// Flat broadcast: the root sends to every other rank.
#pragma once

#include <chorale/algorithm/broadcast/down_tree.hpp>
#include <chorale/topology/star.hpp>

namespace chorale::broadcast {

/// The linear method, for very small groups and where ranks share cores, since every rank waits only for the
/// root to get a core. Cost: n - 1 messages, one after the other, at the root. Source: P2 section 4.1.
struct flat {
  static constexpr auto implements = operation::broadcast;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, int root) {
    return detail::down_tree<forwarding::per_block>(net, now, data,
                                                    topology::star{net.rank(), net.size(), root});
  }
};

}  // namespace chorale::broadcast
