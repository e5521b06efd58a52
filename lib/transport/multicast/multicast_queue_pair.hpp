// SPDX-License-Identifier: Apache-2.0
// A UD queue pair in a multicast group, and how to send to the group.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <chorale/transport/wire/datagram_queue.hpp>
#include <chorale/verbs/address.hpp>
#include <chorale/verbs/address_handle.hpp>
#include <chorale/verbs/device.hpp>
#include <chorale/verbs/protection_domain.hpp>

#include "../../verbs/interface_membership.hpp"
#include "../../verbs/managed_membership.hpp"
#include "../../verbs/multicast_membership.hpp"

namespace chorale::transport {

/// Receives from the group, including its owner's own datagrams. Sends to the group through another queue
/// pair, whose number the receivers know, so that they can identify the sender of a datagram. Sent data stays
/// in a buffer of the caller's choice, for retransmission. Unreliable. Not thread-safe.
class multicast_queue_pair {
 public:
  struct options {
    ibv_gid group{};
    bool is_managed = false;                     ///< librdmacm asks the fabric for the group
    std::chrono::milliseconds deadline{60'000};  ///< limit for the fabric's answer
    std::uint32_t qkey = 0;                      ///< the same for all members; top bit 0
    std::size_t datagram_bytes = 256;            ///< largest datagram, at most the path MTU
    std::uint32_t receives = 64;                 ///< maximum of unread datagrams; further ones are lost
    std::uint32_t places = 16;                   ///< number of send buffers
    std::uint16_t pkey_index = 0;
  };
  /// Joins the group and opens it for receiving. `sender`, of the same domain, is the queue that it sends
  /// through, and must outlive it. @throws error as the verbs objects.
  multicast_queue_pair(datagram_queue& sender, const verbs::device& device,
                       const verbs::protection_domain& domain, const verbs::local_port& port,
                       const options& o);
  /// Waits until all sends from its memory have completed, for at most a second.
  ~multicast_queue_pair();
  multicast_queue_pair(const multicast_queue_pair&) = delete;
  multicast_queue_pair& operator=(const multicast_queue_pair&) = delete;

  /// The buffer `index` of `datagram_bytes`; write to it only while `is_free(index)`.
  [[nodiscard]] std::span<std::byte> place(std::uint32_t index) const noexcept {
    return {queue_->place(index), queue_->datagram_bytes()};
  }
  /// True if no send from that buffer is pending.
  [[nodiscard]] bool is_free(std::uint32_t index);
  /// Sends the first `bytes` of a buffer to the group; may be repeated while they are unchanged. False if the
  /// send queue is full: retry later. @throws error if the queue pair is broken.
  bool send(std::uint32_t index, std::size_t bytes);

  /// @throws error once the fabric has ended the membership in the group. Call it only when something is
  /// missing: it costs a system call.
  void require_membership() {
    if (managed_) managed_->look();
  }

  /// As `datagram_queue::poll`.
  template <class Handler>
  bool poll(Handler&& handler) {
    return queue_->poll(std::forward<Handler>(handler));
  }

  [[nodiscard]] std::size_t memory_bytes() const noexcept { return queue_->memory_bytes(); }

 private:
  datagram_queue* sender_;
  std::uint32_t qkey_;
  // In this order, so that the membership ends first, then the queue pair, then the path of its sends.
  std::optional<verbs::interface_membership> interface_;
  std::optional<verbs::managed_membership> managed_;
  std::optional<verbs::address_handle> way_;
  std::optional<datagram_queue> queue_;
  std::optional<verbs::multicast_membership> membership_;
  std::vector<std::uint64_t> last_use_;  ///< number of the sender's last send from each buffer
};

}  // namespace chorale::transport
