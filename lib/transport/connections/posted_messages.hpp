// SPDX-License-Identifier: Apache-2.0
// Posted messages of any length: short ones in blocks, long ones by rendezvous.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <chorale/transport/connections/rma_queue.hpp>
#include <chorale/transport/connections/send_receive_mailbox.hpp>
#include <chorale/transport/memory/per_peer.hpp>

#include "rendezvous.hpp"

namespace chorale::transport {

class serial_channel;

/// Incomplete posted messages, for each peer in posting order: for each peer and direction, a message starts
/// once the previous one is complete. Each long message has its own registration, request, answer and end;
/// one whose memory cannot be registered comes in blocks after the answer. Progresses in `advance`. One
/// thread at a time.
class posted_messages {
 public:
  /// All arguments must outlive this.
  posted_messages(send_receive_mailbox& boxes, connections& links, rma_queue& memory, const config& settings);
  ~posted_messages();

  /// Whether a message of `bytes` is long.
  [[nodiscard]] bool is_long(std::size_t bytes) const noexcept { return bytes > eager_bytes_; }
  [[nodiscard]] posted_message send(int to, call_id now, std::span<const std::byte> bytes);
  [[nodiscard]] posted_message receive(int from, call_id now, std::span<std::byte> into);
  [[nodiscard]] bool is_over(const posted_message& m) const noexcept;
  [[nodiscard]] bool has_sends(int to) const noexcept;
  [[nodiscard]] bool has_receives(int from) const noexcept;
  /// Whether there is anything to advance.
  [[nodiscard]] bool is_active() const noexcept { return !active_.empty(); }
  void advance();
  /// Call it if a posted receive is awaited and nothing progresses. @throws error errc::mismatch if what has
  /// arrived from that rank is not what is awaited.
  void judge(int from, call_id now);
  [[nodiscard]] send_receive_mailbox::message_statistics statistics() const noexcept { return statistics_; }

  // Events from the mailbox and the endpoint. They @return a description of a protocol error, or null.
  [[nodiscard]] const char* on_clear(int from, const clear_to_send& answer);
  [[nodiscard]] const char* on_placed(int from, std::uint32_t number);
  [[nodiscard]] const char* on_copies(int from, std::uint32_t number);
  void on_closed(int peer) noexcept;
  /// Stops all accesses to posted memory.
  void withdraw() noexcept;
  [[nodiscard]] serial_channel* serial() const noexcept { return serial_.get(); }
  void describe(memory_report& m) const;

 private:
  template <class Byte>
  struct message {
    call_id now;
    std::span<Byte> bytes;
    std::size_t done = 0;  ///< bytes that were posted, or have arrived
    std::optional<exposure> registered{};
  };
  /// Messages to a peer, or from it, in posting order.
  template <class Byte>
  struct queue {
    std::deque<message<Byte>> waiting{};
    std::uint64_t over = 0;

    /// Returns the message's number. An empty message is complete at once if none precedes it.
    std::uint64_t post(call_id now, std::span<Byte> bytes) {
      const std::uint64_t number = over + waiting.size();
      if (bytes.empty() && waiting.empty())
        ++over;
      else
        waiting.push_back({now, bytes});
      return number;
    }
    void end_first() {
      waiting.pop_front();
      ++over;
    }
    void end_all() noexcept {
      over += waiting.size();
      waiting.clear();
    }
  };
  /// The messages in progress between this rank and a peer.
  struct peer_messages {
    queue<const std::byte> sends{};
    queue<std::byte> receives{};
    rendezvous_sender asking{};
    rendezvous_receiver answering{};
    std::uint64_t ticket = 0;  ///< number of the request that sends the last bytes
    pool_block control{};      ///< for answers that cannot be sent inline
    bool is_active = false;
  };

  /// The messages of a peer for which `bytes` are posted.
  [[nodiscard]] peer_messages& messages_with(int peer, std::size_t bytes);
  void advance_sends(int to, peer_messages& all);
  [[nodiscard]] bool send_blocks(int to, message<const std::byte>& m);
  [[nodiscard]] bool send_long(int to, peer_messages& all, message<const std::byte>& m);
  /// The same if one side has not registered its memory: sends the message in blocks.
  [[nodiscard]] bool copy_long(int to, peer_messages& all, message<const std::byte>& m);
  [[nodiscard]] bool write_long(int to, peer_messages& all, message<const std::byte>& m);
  void advance_receives(int from, peer_messages& all);
  [[nodiscard]] bool take_block(int from, const send_receive_mailbox::unexpected& next,
                                message<std::byte>& m);
  [[nodiscard]] bool answer(int from, peer_messages& all, const send_receive_mailbox::unexpected& next,
                            message<std::byte>& m);
  /// Takes the blocks that have arrived of a message whose sender has announced blocks.
  void take_copies(int from, peer_messages& all, message<std::byte>& m);
  [[nodiscard]] bool take_placed(int from, peer_messages& all, message<std::byte>& m);
  void send_clear(connection& c, peer_messages& all, const clear_to_send& answer);

  send_receive_mailbox* boxes_;
  connections* links_;
  rma_queue* memory_;
  std::size_t eager_bytes_;
  per_peer<peer_messages> by_peer_;
  std::vector<int> active_;
  bool advancing_ = false;
  std::unique_ptr<serial_channel> serial_;
  send_receive_mailbox::message_statistics statistics_;
};

}  // namespace chorale::transport
