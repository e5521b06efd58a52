// Messages of an exchange that go straight into the memory of the receiver.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::exchange {

/// True if a message of so many bytes goes straight into the receiver's buffer. Both ranks know its size.
template <mailbox_transport Net>
[[nodiscard]] bool is_straight(const Net& net, std::size_t bytes) noexcept {
  return transfer::is_zero_copy(net, bytes);
}

/// True if the receiver reads straight messages, as a core does that copies them itself: then the data is in
/// its cache, and the sender need not know where they go. Else the sender puts them, which an adapter does
/// without asking anybody. The same on all ranks.
template <mailbox_transport Net>
[[nodiscard]] bool receivers_read(const Net& net) noexcept {
  if constexpr (core_copying_transport<Net>)
    return net.copies_by_core();
  else
    return false;
}

/// Memory of straight messages, kept registered while it lives; nothing on transports that have none.
template <mailbox_transport Net>
struct straight_memory {
  std::span<const std::byte> out;  ///< empty
  std::span<const std::byte> in;   ///< empty
  /// Does nothing: there are no straight messages.
  void add_out(Net&, std::span<const std::byte>) {}
  /// Does nothing: there are no straight messages.
  void add_in(Net&, std::span<std::byte>) {}
};
/// On transports that move them.
template <one_sided_transport Net>
struct straight_memory<Net> {
  /// Memory that the transport knows.
  using registered = decltype(std::declval<Net&>().expose(std::span<std::byte>{}));
  std::vector<registered> out;  ///< of messages to other ranks
  std::vector<registered> in;   ///< of messages from other ranks

  /// A message that this rank sends: the peer reads it, or this rank puts it.
  void add_out(Net& net, std::span<const std::byte> bytes) {
    out.push_back(exchange::receivers_read(net) ? net.offer(bytes) : net.lend(bytes));
  }
  /// Where a message comes to: the peer puts it, or this rank reads it.
  void add_in(Net& net, std::span<std::byte> bytes) { in.push_back(net.expose(bytes)); }
};

}  // namespace chorale::exchange
