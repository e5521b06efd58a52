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

/// Sends to the group and receives from it, including its own datagrams. Sent data stays in a buffer of the
/// caller's choice, for retransmission. Unreliable. Not thread-safe.
class multicast_queue_pair {
 public:
  struct options {
    ibv_gid group{};
    bool is_managed = false;                     ///< librdmacm asks the fabric for the group
    std::chrono::milliseconds deadline{60'000};  ///< limit for its answer
    std::uint32_t qkey = 0;                      ///< the same for all members; top bit 0
    std::size_t datagram_bytes = 256;            ///< largest datagram, at most the path MTU
    std::uint32_t receives = 64;                 ///< maximum of unread datagrams; further ones are lost
    std::uint32_t places = 16;                   ///< number of send buffers
    std::uint16_t pkey_index = 0;
  };
  /// Opens it for sending and receiving. @throws error as the verbs that it calls.
  multicast_queue_pair(const verbs::device& device, const verbs::protection_domain& domain,
                       const verbs::local_port& port, const options& o);

  /// The buffer `index` of `datagram_bytes`; write to it only while `is_free(index)`.
  [[nodiscard]] std::span<std::byte> place(std::uint32_t index) const noexcept {
    return {queue_->place(index), queue_->datagram_bytes()};
  }
  /// True if no send from that buffer is pending.
  [[nodiscard]] bool is_free(std::uint32_t index);
  /// Sends the first `bytes` of a buffer to the group; may be repeated while they are unchanged. False if the
  /// send queue is full: retry later. @throws error if the queue pair is broken.
  bool send(std::uint32_t index, std::size_t bytes);

  /// Passes each arrived datagram to `handler(std::span<const std::byte>)` and reposts its buffer.
  template <class Handler>
  void poll(Handler&& handler) {
    queue_->poll(std::forward<Handler>(handler));
  }

  [[nodiscard]] std::size_t memory_bytes() const noexcept { return queue_->memory_bytes(); }

 private:
  std::uint32_t qkey_;
  // In this order, so that the membership ends first, then the queue pair, then the path of its datagrams.
  std::optional<verbs::interface_membership> interface_;
  std::optional<verbs::managed_membership> managed_;
  std::optional<verbs::address_handle> way_;
  std::optional<datagram_queue> queue_;
  std::optional<verbs::multicast_membership> membership_;
  std::vector<std::uint64_t> last_use_;  ///< number of the last send from each buffer
};

}  // namespace chorale::transport
