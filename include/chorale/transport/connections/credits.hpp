// SPDX-License-Identifier: Apache-2.0
// Flow control of messages in blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/wire/mailbox.hpp>

namespace chorale::transport {

/// A sender has as many credits as its peer has blocks for it. The peer returns them, half of them at once,
/// by an RDMA write of one word (P2 section 4.1.4) or by an answer: a message of the algorithm that both
/// sides know to imply it (P2 section 4.2.4). Credits persist across connections. One thread at a time.
///
/// Writer: the receiver: finishes reading blocks, then writes their number, through its device.
/// Reader: the sender: loads that number by `load_acquire`, then writes into the blocks.
/// Pair: that acquire, and the release by which `soft0` stores a word; an answer is an ordinary message.
class credits {
 public:
  /// The credits between this rank and one peer, in both directions.
  struct account {
    connection* link;
    std::uint64_t sent = 0;          ///< messages to the peer
    std::uint64_t free_to = 0;       ///< ... of which at least this many have been released
    std::uint64_t received = 0;      ///< messages received from the peer
    std::uint64_t released = 0;      ///< ... and released
    std::uint64_t acknowledged = 0;  ///< ... that the peer knows of, or will learn of from an answer
    bool is_due = false;             ///< an acknowledgement is pending for lack of room
    account* next_due = nullptr;
  };

  credits(connections& links, std::uint32_t blocks) noexcept : links_(&links), blocks_(blocks) {}
  credits(const credits&) = delete;
  credits& operator=(const credits&) = delete;

  [[nodiscard]] bool has_credit(account& a) const noexcept {
    if (a.sent - a.free_to < blocks_) [[likely]]
      return true;
    // An acknowledgement in flight when an answer arrived counts fewer messages than the answer.
    links_->poll_announcements();
    a.free_to = std::max(a.free_to, load_acquire(a.link->words + mailbox_layout::notification_offset));
    return a.sent - a.free_to < blocks_;
  }
  /// An answer implies that the peer has released the first `messages`.
  static void answered(account& a, std::uint64_t messages) noexcept {
    a.free_to = std::max(a.free_to, messages);
  }
  /// The peer will learn from an answer which of its messages have been released.
  static void will_answer(account& a) noexcept { a.acknowledged = a.released; }
  /// Releases the oldest received message of the peer.
  void release(account& a) noexcept {
    ++a.released;
    if (a.released - a.acknowledged >= blocks_ / 2) acknowledge(a);
  }
  /// Sends pending acknowledgements for which there was no room.
  void on_progress() noexcept;
  void on_closed(account& a) const noexcept;
  /// Number of acknowledgement words written.
  [[nodiscard]] std::uint64_t notifications() const noexcept { return notifications_; }
  static void count(const account& a, ledger& l) noexcept {
    l.sent = a.sent;
    l.received = a.received;
    l.released = a.released;
  }

 private:
  void acknowledge(account& a) noexcept;

  connections* links_;
  std::uint32_t blocks_;
  account* due_ = nullptr;  ///< list of accounts with pending acknowledgements
  std::uint64_t notifications_ = 0;
};

}  // namespace chorale::transport
