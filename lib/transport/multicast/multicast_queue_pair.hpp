// One UD queue pair in a multicast group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <chorale/core/lean_chrono.hpp>
#include <chorale/transport/datagram_queue.hpp>
#include <chorale/verbs/address.hpp>
#include <chorale/verbs/address_handle.hpp>
#include <chorale/verbs/device.hpp>
#include <chorale/verbs/protection_domain.hpp>

#include "../../verbs/interface_membership.hpp"
#include "../../verbs/managed_membership.hpp"
#include "../../verbs/multicast_membership.hpp"

namespace chorale::transport {

/// Sends to the group and receives from it, its own datagrams too. What is sent stays in a place of the
/// caller's choice, so that it can be sent again from there. Unreliable. Not thread-safe.
class multicast_queue_pair {
 public:
  struct options {
    ibv_gid group{};
    bool is_managed = false;                     ///< librdmacm asks the fabric for the group
    std::chrono::milliseconds deadline{60'000};  ///< for its answer
    std::uint32_t qkey = 0;                      ///< the same for all members; top bit 0
    std::size_t datagram_bytes = 256;            ///< largest datagram, at most the path MTU
    std::uint32_t receives = 64;  ///< datagrams that may wait here unread; further ones are lost
    std::uint32_t places = 16;    ///< of datagrams to be sent
    std::uint16_t pkey_index = 0;
  };
  /// Begins to send and receive. @throws error as the verbs that it calls.
  multicast_queue_pair(const verbs::device& device, const verbs::protection_domain& domain,
                       const verbs::local_port& port, const options& o);

  /// `datagram_bytes` to write a datagram into, to be written only while `is_free(index)`.
  [[nodiscard]] std::span<std::byte> place(std::uint32_t index) const noexcept {
    return {queue_->place(index), queue_->datagram_bytes()};
  }
  /// True if the device is done with what was sent from there.
  [[nodiscard]] bool is_free(std::uint32_t index);
  /// Sends the first `bytes` of a place to the group; again, if wanted, while they are unchanged. False if
  /// the send queue is full: try later. @throws error if the queue pair is broken.
  bool send(std::uint32_t index, std::size_t bytes);

  /// Hands each datagram that has arrived to `handler(std::span<const std::byte>)` and posts its buffer
  /// again.
  template <class Handler>
  void poll(Handler&& handler) {
    queue_->poll(std::forward<Handler>(handler));
  }

  [[nodiscard]] std::size_t memory_bytes() const noexcept { return queue_->memory_bytes(); }

 private:
  std::uint32_t qkey_;
  // Declared so that the membership goes first, then the queue pair, then the way of its datagrams.
  std::optional<verbs::interface_membership> interface_;
  std::optional<verbs::managed_membership> managed_;
  std::optional<verbs::address_handle> way_;
  std::optional<datagram_queue> queue_;
  std::optional<verbs::multicast_membership> membership_;
  std::vector<std::uint64_t> last_use_;  ///< number of the last send from each place
};

}  // namespace chorale::transport
