// SPDX-License-Identifier: Apache-2.0
// K-nomial broadcast.
#pragma once

#include <chorale/algorithm/broadcast/down_tree.hpp>
#include <chorale/topology/knomial.hpp>

namespace chorale::broadcast {

/// As `binomial`, down a tree in which each rank sends to `Radix` - 1 others in a step. Cost: ceil(log_Radix
/// n) steps of `Radix` - 1 messages. For short messages, if a step costs more than a message, as on adapters.
/// Source: `topology::knomial`.
template <int Radix>
requires(Radix >= 2) struct knomial {
  static constexpr auto implements = operation::broadcast;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;
  /// Where the ranks' cores move the bytes, a step takes as long as its messages.
  template <class Net>
  [[nodiscard]] static bool suits(const Net& net) noexcept {
    if constexpr (requires { net.is_on_adapter(); })
      return net.is_on_adapter();
    else
      return false;
  }

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, int root) {
    return detail::down_tree<forwarding::per_block>(net, now, data,
                                                    topology::knomial{net.rank(), net.size(), root, Radix});
  }
};

}  // namespace chorale::broadcast
