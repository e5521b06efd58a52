// One UD queue pair in a multicast group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <chorale/core/lean_chrono.hpp>
#include <chorale/verbs/address.hpp>
#include <chorale/verbs/address_handle.hpp>
#include <chorale/verbs/completion_queue.hpp>
#include <chorale/verbs/device.hpp>
#include <chorale/verbs/protection_domain.hpp>
#include <chorale/verbs/queue_pair.hpp>
#include <chorale/verbs/registered_buffer.hpp>

#include "../../verbs/interface_membership.hpp"
#include "../../verbs/managed_membership.hpp"
#include "../../verbs/multicast_membership.hpp"

namespace chorale::transport {

/// Sends to the group and receives from it, its own datagrams too. It has completion queues of its own, since
/// in a common one nobody could tell where the data begins: behind the 40 bytes of a GRH or not (P1
/// section 5.3). What is sent stays in a place of the caller's choice, so that it can be sent again from
/// there. Unreliable. Not thread-safe.
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
  [[nodiscard]] std::span<std::byte> place(std::uint32_t index) const noexcept;
  /// True if the device is done with what was sent from there.
  [[nodiscard]] bool is_free(std::uint32_t index);
  /// Sends the first `bytes` of a place to the group; again, if wanted, while they are unchanged. False if
  /// the send queue is full: try later. @throws error if the queue pair is broken.
  bool send(std::uint32_t index, std::size_t bytes);

  /// Hands each datagram that has arrived to `handler(std::span<const std::byte>)` and posts its buffer
  /// again.
  template <class Handler>
  void poll(Handler&& handler) {
    for (;;) {
      const auto arrived = receive_cq_->poll(completions_);
      for (const ibv_wc& wc : arrived) {
        if (wc.status != IBV_WC_SUCCESS) [[unlikely]]
          fail(wc);
        if (wc.byte_len >= grh_bytes)
          handler(std::span<const std::byte>{receive_place(wc.wr_id) + grh_bytes, wc.byte_len - grh_bytes});
        post_receive(wc.wr_id);
      }
      if (arrived.size() < completions_.size()) return;
    }
  }

  [[nodiscard]] std::size_t memory_bytes() const noexcept { return buffer_.bytes(); }

 private:
  static constexpr std::size_t grh_bytes = 40;
  [[nodiscard]] std::size_t stride() const noexcept {
    return (grh_bytes + options_.datagram_bytes + 63) / 64 * 64;
  }
  [[nodiscard]] std::byte* receive_place(std::uint64_t index) const noexcept {
    return buffer_.data() + index * stride();
  }
  void post_receive(std::uint64_t index);
  void reap();
  [[noreturn]] static void fail(const ibv_wc& wc);

  options options_;
  // Declared so that the membership goes first, then the queue pair, then its queues and its memory.
  std::optional<verbs::interface_membership> interface_;
  std::optional<verbs::managed_membership> managed_;
  verbs::registered_buffer buffer_;
  std::optional<verbs::address_handle> way_;
  std::optional<verbs::completion_queue> send_cq_;
  std::optional<verbs::completion_queue> receive_cq_;
  std::optional<verbs::queue_pair> qp_;
  std::optional<verbs::multicast_membership> membership_;
  std::vector<ibv_wc> completions_{16};
  std::vector<std::uint64_t> last_use_;  ///< number of the last send from each place
  std::uint64_t sent_ = 0;
  std::uint64_t completed_ = 0;
};

}  // namespace chorale::transport
