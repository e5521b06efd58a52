// SPDX-License-Identifier: Apache-2.0
// Messages of an exchange that go straight into the receiver's buffer.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::exchange {

/// True if a message of `bytes` goes straight into the receiver's buffer. Both ranks know its size.
template <mailbox_transport Net>
[[nodiscard]] bool is_straight(const Net& net, std::size_t bytes) noexcept {
  return transfer::is_zero_copy(net, bytes);
}

/// True if the receiver reads straight messages, which is better if cores copy them: then the data are in the
/// receiver's cache, and the sender need not know the destination. False if the sender puts them, through an
/// adapter. The same on all ranks.
template <mailbox_transport Net>
[[nodiscard]] bool receivers_read(const Net& net) noexcept {
  if constexpr (core_copying_transport<Net>)
    return net.copies_by_core();
  else
    return false;
}

/// The memory of straight messages, registered during the object's lifetime; empty on transports without
/// them.
template <mailbox_transport Net>
struct straight_memory {
  std::span<const std::byte> out;  ///< empty
  std::span<const std::byte> in;   ///< empty
  /// Does nothing: there are no straight messages.
  void add_out(Net&, std::span<const std::byte>) {}
  /// Does nothing: there are no straight messages.
  void add_in(Net&, std::span<std::byte>) {}
  /// Does nothing: there are no straight messages.
  template <class Use>
  void each_region(bool, std::size_t, const Use&) const {}
};
/// On transports that have straight messages.
template <one_sided_transport Net>
struct straight_memory<Net> {
  std::vector<transfer::call_memory<Net, const std::byte>> out;  ///< of messages to other ranks
  std::vector<transfer::call_memory<Net, std::byte>> in;         ///< of messages from other ranks

  /// Adds a message that this rank sends: the peer reads it, or this rank puts it.
  void add_out(Net& net, std::span<const std::byte> bytes) {
    out.push_back(exchange::receivers_read(net) ? transfer::offer(net, bytes) : transfer::lend(net, bytes));
  }
  /// Adds the buffer for a message to this rank: the peer puts the message, or this rank reads it.
  void add_in(Net& net, std::span<std::byte> bytes) { in.push_back(transfer::expose(net, bytes)); }
  /// Calls `use(region)` for the regions of `out` (if `of_out`), or of `in`, from index `first` on.
  template <class Use>
  void each_region(bool of_out, std::size_t first, const Use& use) const {
    for (std::size_t i = first; of_out && i < out.size(); ++i) use(out[i].region());
    for (std::size_t i = first; !of_out && i < in.size(); ++i) use(in[i].region());
  }
};

}  // namespace chorale::exchange
