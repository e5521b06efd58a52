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

/// Memory of straight messages, kept registered while it lives; nothing on transports that have none.
template <mailbox_transport Net>
struct straight_memory {
  std::span<const std::byte> lent;  ///< empty
  remote_region expose(Net&, std::span<std::byte>) { return {}; }
  void lend(Net&, std::span<const std::byte>) {}
};
template <one_sided_transport Net>
struct straight_memory<Net> {
  std::vector<decltype(std::declval<Net&>().expose(std::span<std::byte>{}))> exposed;
  std::vector<decltype(std::declval<Net&>().lend(std::span<const std::byte>{}))> lent;

  remote_region expose(Net& net, std::span<std::byte> bytes) {
    exposed.push_back(net.expose(bytes));
    return exposed.back().region();
  }
  void lend(Net& net, std::span<const std::byte> bytes) { lent.push_back(net.lend(bytes)); }
};

}  // namespace chorale::exchange
