// One UD queue pair through which a rank reaches every other rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/transport/device_port.hpp>
#include <chorale/verbs/address_handle.hpp>
#include <chorale/verbs/completion_channel.hpp>
#include <chorale/verbs/completion_queue.hpp>
#include <chorale/verbs/queue_pair.hpp>
#include <chorale/verbs/registered_buffer.hpp>

namespace chorale::transport {

/// Sends and receives datagrams of at most `payload_bytes`. Unreliable: a datagram may be lost, and is if the
/// receiver has no buffer posted. Not thread-safe.
class datagram_port {
 public:
  struct options {
    std::size_t payload_bytes = 1024;  ///< largest datagram, at most the path MTU
    std::uint32_t receives = 256;      ///< datagrams that may wait here unread
    std::uint32_t sends = 64;          ///< datagrams that may be under way
    /// Where datagrams that were sent as solicited raise an event, if the port is armed; none: nowhere.
    verbs::completion_channel* channel = nullptr;
  };

  /// `over` outlives it, and knows the addresses of the peers. @throws error as the verbs objects.
  datagram_port(const device_port& over, const options& o);

  /// Begins to send and receive. `qkey` is the same on all ranks of a job; top bit 0.
  void open(std::uint32_t qkey);

  [[nodiscard]] std::uint32_t number() const noexcept { return qp_->number(); }
  [[nodiscard]] std::size_t payload_bytes() const noexcept { return options_.payload_bytes; }

  /// Makes the next rank (from 0) known; its path is resolved at the first send.
  void add_peer(std::uint32_t qp_number);

  /// Sends `parts`, one behind the other, as one datagram; they may be reused at once. A `solicited` one
  /// wakes who waits for an event at the receiver. False if the send queue is full: try again later. @throws
  /// error if the queue pair is broken or the datagram too large.
  bool send(int rank, std::initializer_list<std::span<const std::byte>> parts, bool solicited = false);

  /// The next solicited datagram raises an event in the channel.
  void arm() { receive_cq_->request_notification(true); }

  /// True if all that was sent has left.
  [[nodiscard]] bool is_drained() {
    reap();
    return completed_ == sent_;
  }
  /// Waits until all that was sent has left, for at most `patience`: a queue pair that is destroyed takes
  /// what waits in it along.
  void drain(steady::duration patience);

  /// Hands each datagram that has arrived to `handler(std::span<const std::byte>)` and posts its buffer
  /// again.
  template <class Handler>
  void poll(Handler&& handler) {
    for (;;) {
      const auto arrived = receive_cq_->poll(completions_);
      for (const ibv_wc& wc : arrived) {
        if (wc.status != IBV_WC_SUCCESS) [[unlikely]]
          fail(wc);
        if (wc.byte_len >= grh_bytes) {
          const std::byte* slot = receive_slot(wc.wr_id);
          handler(std::span{slot + grh_bytes, wc.byte_len - grh_bytes});
        }
        post_receive(wc.wr_id);
      }
      if (arrived.size() < completions_.size()) return;
    }
  }

  /// Registered bytes of this port.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return buffer_->bytes(); }

 private:
  static constexpr std::size_t grh_bytes = 40;
  struct peer {
    std::uint32_t qp_number = 0;
    std::optional<verbs::address_handle> path;
  };

  [[nodiscard]] std::size_t slot_bytes() const noexcept;
  [[nodiscard]] std::byte* receive_slot(std::uint64_t index) const noexcept;
  void post_receive(std::uint64_t index);
  void reap();
  [[noreturn]] static void fail(const ibv_wc& wc);

  const device_port* over_;
  options options_;
  std::uint32_t qkey_ = 0;
  // Declared so that the queue pair goes first, then its queues and its memory.
  std::deque<peer> peers_;
  std::optional<verbs::registered_buffer> buffer_;
  std::optional<verbs::completion_queue> send_cq_;
  std::optional<verbs::completion_queue> receive_cq_;
  std::optional<verbs::queue_pair> qp_;
  std::vector<ibv_wc> completions_{16};
  std::uint64_t sent_ = 0;
  std::uint64_t completed_ = 0;
};

}  // namespace chorale::transport
