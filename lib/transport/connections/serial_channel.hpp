// SPDX-License-Identifier: Apache-2.0
// Zero copy over send and receive: a receive is posted for one sender at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/memory/per_peer.hpp>

namespace chorale::transport {

/// Separate connections whose shared receive queue has no blocks: the destination of one message at a time is
/// posted there, and only the rank that was granted it may send. Messages of several senders are therefore
/// serialized, the effect that this baseline demonstrates. Source: P5 section 2, figure 2. One thread at a
/// time.
class serial_channel final : private connection_user {
 public:
  /// `beside`: the connections for requests and answers; must outlive this.
  serial_channel(connections& beside, const config& settings);

  // Receiver.
  /// True if no message is being received.
  [[nodiscard]] bool is_free() const noexcept { return from_ < 0; }
  /// Posts the destination of the message of rank `from`, registered under `lkey`. Precondition: free.
  void take(int from, std::span<std::byte> into, std::uint32_t lkey);
  [[nodiscard]] bool is_filled(int from) const noexcept { return from_ == from && arrived_ == into_.size(); }
  void free() noexcept { from_ = -1; }

  // Sender.
  /// Sends a message from byte `done` on; true once everything is posted.
  [[nodiscard]] bool send(int to, std::span<const std::byte> bytes, std::size_t& done, std::uint32_t lkey);
  /// True if everything sent to that rank has arrived.
  [[nodiscard]] bool has_sent(int to) const noexcept {
    const connection* c = links_.find(to);
    return c == nullptr || c->completed == c->posted;
  }

  /// Polls completions, and posts the next pieces.
  void look();
  void on_progress() { links_.on_progress(); }
  void settle() noexcept { links_.settle(); }
  void close() noexcept { links_.close(); }
  void withdraw() noexcept { links_.withdraw(); }
  void describe(memory_report& m) const { links_.describe(m); }
  [[nodiscard]] std::size_t registered_bytes() const noexcept { return links_.registered_bytes(); }

 private:
  /// Messages exchanged with a peer, counted in pieces.
  struct counts {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };

  void on_accepted(connection&) override {}
  void on_closed(connection& c) noexcept override;
  void on_notice(connection& from, std::uint32_t word) override;
  void on_written(connection& from, std::uint32_t count) override { on_notice(from, count); }
  void on_message(connection& from, std::uint64_t index, const ibv_wc& wc) override;
  void count(int peer, ledger& l) const noexcept override;
  [[nodiscard]] bool admits(int) const noexcept override { return true; }
  void post_pieces();

  connections links_;
  per_peer<counts> peers_;
  int from_ = -1;  ///< sender of the current message
  std::span<std::byte> into_;
  std::uint32_t lkey_ = 0;
  std::size_t posted_ = 0;     ///< bytes of the destination posted so far
  std::size_t arrived_ = 0;    ///< ... and filled so far
  std::uint32_t waiting_ = 0;  ///< posted receives
};

}  // namespace chorale::transport
