// A UD queue pair with its queues and its memory: what everyone does alike who sends and receives datagrams.
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

/// Receives datagrams, and sends them from places of the caller's choice. It has completion queues of its
/// own, since in a common one nobody could tell where the data begins: behind the 40 bytes of a GRH or not
/// (P1 section 5.3). What was sent is reaped when half of the send queue is in use, or when it is asked for.
/// Unreliable. Not thread-safe.
class datagram_queue {
 public:
  struct options {
    std::size_t datagram_bytes = 1024;  ///< largest datagram, at most the path MTU
    std::uint32_t receives = 256;       ///< datagrams that may wait here unread; further ones are lost
    std::uint32_t sends = 64;           ///< datagrams that may be under way
    std::uint32_t places = 0;           ///< of datagrams to be sent; 0: as many as may be under way
    const char* name = "UD";            ///< what errors call it
    /// Where solicited datagrams raise an event, if it is armed; none: nowhere.
    verbs::completion_channel* channel = nullptr;
  };
  /// Where a datagram goes.
  struct destination {
    ibv_ah* way;
    std::uint32_t qp_number;
    std::uint32_t qkey;
  };

  /// At most as many receives and sends as the device has. @throws error as the verbs objects.
  datagram_queue(const verbs::device& device, const verbs::protection_domain& domain, const options& o);
  /// Begins to send and receive.
  void open(const verbs::init_options& o);

  /// For what one cannot do with datagrams alone.
  [[nodiscard]] verbs::queue_pair& pair() noexcept { return qp_; }
  [[nodiscard]] const verbs::queue_pair& pair() const noexcept { return qp_; }
  [[nodiscard]] std::size_t datagram_bytes() const noexcept { return options_.datagram_bytes; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return buffer_.bytes(); }
  [[nodiscard]] std::uint32_t sends() const noexcept { return options_.sends; }

  // Sending.
  /// `datagram_bytes` to write a datagram into.
  [[nodiscard]] std::byte* place(std::uint32_t index) const noexcept {
    return buffer_.data() + (options_.receives + index) * stride_;
  }
  /// False if the send queue is full. @throws error if a send has failed.
  [[nodiscard]] bool may_send() {
    if (sent_ - completed_ >= options_.sends / 2) [[unlikely]]
      reap();
    return sent_ - completed_ < options_.sends;
  }
  /// Sends the first `bytes` of a place, which must not change until that is complete. Precondition:
  /// may_send(). @throws error if the queue pair is broken.
  void send(std::uint32_t index, std::size_t bytes, const destination& to, bool solicited) {
    ibv_sge source{reinterpret_cast<std::uintptr_t>(place(index)), static_cast<std::uint32_t>(bytes),
                   buffer_.lkey()};
    ibv_send_wr request{};
    request.wr_id = sent_;
    request.sg_list = &source;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED | (solicited ? unsigned{IBV_SEND_SOLICITED} : 0U);
    request.wr.ud.ah = to.way;
    request.wr.ud.remote_qpn = to.qp_number;
    request.wr.ud.remote_qkey = to.qkey;
    clock::worked(host_work::send);
    qp_.post_send(request);
    ++sent_;
  }
  /// How many were sent, and how many of them the device is done with, as far as is known.
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t completed() const noexcept { return completed_; }
  /// Looks which ones the device is done with. @throws error if a send has failed.
  void reap();

  // Receiving.
  /// Hands each datagram that has arrived to `handler(std::span<const std::byte>)` and posts its buffer
  /// again. @throws error if the queue pair is broken.
  template <class Handler>
  void poll(Handler&& handler) {
    for (;;) {
      const auto arrived = receive_cq_.poll(completions_);
      for (const ibv_wc& wc : arrived) {
        if (wc.status != IBV_WC_SUCCESS) [[unlikely]]
          fail(wc, "receive");
        clock::worked(host_work::receive);
        if (wc.byte_len >= grh_bytes)
          handler(std::span<const std::byte>{receive_place(wc.wr_id) + grh_bytes, wc.byte_len - grh_bytes});
        post_receive(wc.wr_id);
      }
      if (arrived.size() < completions_.size()) return;
    }
  }
  /// The next solicited datagram raises an event in the channel.
  void arm() { receive_cq_.request_notification(true); }

 private:
  static constexpr std::size_t grh_bytes = 40;
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
  std::size_t stride_;  ///< from one place to the next
  // Declared so that the queue pair goes first, then its queues and its memory.
  verbs::registered_buffer buffer_;
  verbs::completion_queue send_cq_;
  verbs::completion_queue receive_cq_;
  verbs::queue_pair qp_;
  std::array<ibv_wc, 16> completions_;  ///< of receives
  std::uint64_t sent_ = 0;
  std::uint64_t completed_ = 0;
};

}  // namespace chorale::transport
