// SPDX-License-Identifier: Apache-2.0
// A UD queue pair with its queues and memory, shared by all senders and receivers of datagrams.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/core/clock.hpp>
#include <chorale/verbs/completion_channel.hpp>
#include <chorale/verbs/completion_queue.hpp>
#include <chorale/verbs/device.hpp>
#include <chorale/verbs/protection_domain.hpp>
#include <chorale/verbs/queue_pair.hpp>
#include <chorale/verbs/registered_buffer.hpp>

namespace chorale::transport {

/// Receives datagrams, and sends them from slots that the caller chooses. It has its own completion queues,
/// since completions in a shared one would not tell whether the data begins after the 40 bytes of a GRH (P1
/// section 5.3). Sends are reaped when half of the send queue is in use, or on request. Unreliable. Not
/// thread-safe.
class datagram_queue {
 public:
  struct options {
    std::size_t datagram_bytes = 1024;  ///< largest datagram, at most the path MTU
    std::uint32_t receives = 256;       ///< maximum of unread datagrams; further ones are lost
    std::uint32_t sends = 64;           ///< maximum of outstanding sends
    std::uint32_t places = 0;           ///< number of send slots; 0: as many as sends
    const char* name = "UD";            ///< its name in errors
    /// Channel for events of solicited datagrams, raised if armed; may be null.
    verbs::completion_channel* channel = nullptr;
    int completion_vector = 0;  ///< of the receives
  };
  /// The destination of a datagram.
  struct destination {
    ibv_ah* address_handle;
    std::uint32_t qp_number;
    std::uint32_t qkey;
  };

  /// Limits receives and sends to what the device supports. @throws error as the verbs objects.
  datagram_queue(const verbs::device& device, const verbs::protection_domain& domain, const options& o);
  /// Makes the largest datagram smaller. Precondition: not open.
  void limit(std::size_t datagram_bytes) noexcept {
    options_.datagram_bytes = std::min(options_.datagram_bytes, datagram_bytes);
  }
  /// Opens it for sending and receiving.
  void open(const verbs::init_options& o);

  /// For operations beyond plain datagrams.
  [[nodiscard]] verbs::queue_pair& pair() noexcept { return qp_; }
  [[nodiscard]] const verbs::queue_pair& pair() const noexcept { return qp_; }
  [[nodiscard]] std::size_t datagram_bytes() const noexcept { return options_.datagram_bytes; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return buffer_.bytes(); }
  [[nodiscard]] std::uint32_t sends() const noexcept { return options_.sends; }

  // Sending.
  /// The send slot `index`, with room for `datagram_bytes`.
  [[nodiscard]] std::byte* place(std::uint32_t index) const noexcept {
    return buffer_.data() + (options_.receives + index) * stride_;
  }
  /// False if the send queue is full. @throws error if a send failed.
  [[nodiscard]] bool may_send() {
    if (sent_ - completed_ >= options_.sends / 2) [[unlikely]]
      reap();
    return sent_ - completed_ < options_.sends;
  }
  /// The first `bytes` of slot `index`, to be sent.
  [[nodiscard]] ibv_sge content(std::uint32_t index, std::size_t bytes) const noexcept {
    return {reinterpret_cast<std::uintptr_t>(place(index)), static_cast<std::uint32_t>(bytes),
            buffer_.lkey()};
  }
  /// Sends what is in a slot of this queue, or in other memory of its domain, which must not change until
  /// completion. Precondition: may_send(). @throws error if the queue pair is broken.
  void send(ibv_sge source, const destination& to, bool solicited) {
    ibv_send_wr request{};
    request.wr_id = sent_;
    request.sg_list = &source;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED | (solicited ? unsigned{IBV_SEND_SOLICITED} : 0U);
    request.wr.ud.ah = to.address_handle;
    request.wr.ud.remote_qpn = to.qp_number;
    request.wr.ud.remote_qkey = to.qkey;
    clock::worked(host_work::send);
    qp_.post_send(request);
    ++sent_;
  }
  /// Number of sends, and how many of them are known to have completed.
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t completed() const noexcept { return completed_; }
  /// Polls send completions. @throws error if a send failed.
  void reap();

  // Receiving.
  /// Passes each arrived datagram to `handler(std::span<const std::byte>, const ibv_wc&)` and reposts its
  /// buffer. The 40 bytes before the datagram are its GRH, if the completion says that there is one. Returns
  /// false if none had arrived. @throws error if the queue pair is broken.
  template <class Handler>
  bool poll(Handler&& handler) {
    // Not a member, since polls nest: a handler that fails may make this rank read on, to end its
    // connections.
    std::array<ibv_wc, 16> completions;
    auto arrived = receive_cq_.poll(completions);
    if (arrived.empty()) return false;
    for (;;) {
      for (const ibv_wc& wc : arrived) {
        if (wc.status != IBV_WC_SUCCESS) [[unlikely]]
          fail(wc, "receive");
        clock::worked(host_work::receive);
        if (wc.byte_len >= grh_bytes)
          handler(std::span<const std::byte>{receive_place(wc.wr_id) + grh_bytes, wc.byte_len - grh_bytes},
                  wc);
        post_receive(wc.wr_id);
      }
      if (arrived.size() < completions.size()) return true;
      arrived = receive_cq_.poll(completions);
    }
  }
  /// Arms the queue: the next solicited datagram raises an event in the channel.
  void arm() { receive_cq_.request_notification(true); }

  static constexpr std::size_t grh_bytes = 40;

 private:
  [[nodiscard]] std::byte* receive_place(std::uint64_t index) const noexcept {
    return buffer_.data() + index * stride_;
  }
  [[nodiscard]] ibv_sge receive_room(std::uint64_t index) const noexcept {
    return {reinterpret_cast<std::uintptr_t>(receive_place(index)),
            static_cast<std::uint32_t>(grh_bytes + options_.datagram_bytes), buffer_.lkey()};
  }
  void post_receive(std::uint64_t index) {
    ibv_sge room = receive_room(index);
    ibv_recv_wr request{};
    request.wr_id = index;
    request.sg_list = &room;
    request.num_sge = 1;
    qp_.post_recv(request);
  }
  void post_all_receives();
  [[noreturn]] void fail(const ibv_wc& wc, const char* what) const;

  options options_;
  std::size_t stride_;  ///< distance between slots
  // In this order, so that the queue pair is destroyed first, then its queues and memory.
  verbs::registered_buffer buffer_;
  verbs::completion_queue send_cq_;
  verbs::completion_queue receive_cq_;
  verbs::queue_pair qp_;
  std::uint64_t sent_ = 0;
  std::uint64_t completed_ = 0;
};

}  // namespace chorale::transport
