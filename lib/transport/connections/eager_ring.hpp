// SPDX-License-Identifier: Apache-2.0
// Matched messages by RDMA write into blocks of the receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/core/config.hpp>
#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/wire/mailbox.hpp>

namespace chorale::transport {

/// Replaces the receive queue: the inbox of each connection has as many blocks as the peer has credits, and
/// message number n of the peer, header and payload, is written into block n modulo their number. The counter
/// in its trailer shows its arrival; the message stays there until it is released. Layout: `mailbox_layout`.
/// Source: Liu, Wu, Kini, Wyckoff, Panda: High performance RDMA-based MPI implementation over InfiniBand, ICS
/// 2003.
class eager_ring {
 public:
  /// For messages of at most `message_bytes`, including their headers.
  eager_ring(std::size_t message_bytes, std::uint32_t blocks) noexcept
      : layout_{message_bytes + sizeof(mailbox_trailer), blocks} {}

  [[nodiscard]] std::size_t inbox_bytes() const noexcept { return layout_.total_bytes(); }
  /// Contiguous room required at the source of a message: for the message, padding and its trailer.
  [[nodiscard]] std::size_t message_bytes() const noexcept { return layout_.message_bytes(); }

  /// Writes message `number`, the first `bytes` at `place`, which has room for `message_bytes()`, is
  /// registered under `lkey` and must not change until the message is released. Precondition: there is room
  /// for a request.
  void write(connections& links, connection& to, std::uint64_t number, std::byte* place, std::size_t bytes,
             std::uint32_t lkey) const;
  /// Marks message `number` in that inbox as complete, so that `find` sees it.
  void show(std::byte* inbox, std::uint64_t number) const noexcept;

  struct message {
    bool is_there = false;
    std::span<const std::byte> bytes{};  ///< empty if the content is not a valid message
  };
  /// Message `number` of the peer whose connection has this inbox of `inbox_bytes()`. Checks what the peer
  /// wrote: the length, and that no unreleased block was overwritten.
  [[nodiscard]] message find(const std::byte* inbox, std::uint64_t number) const noexcept;

 private:
  mailbox_layout layout_;
};

}  // namespace chorale::transport
