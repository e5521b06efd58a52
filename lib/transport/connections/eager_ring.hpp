// Messages that are matched, by RDMA write into blocks of the receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/core/config.hpp>
#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/mailbox.hpp>

namespace chorale::transport {

/// In place of a receive queue: the inbox of each connection has as many blocks as the peer has credits, and
/// message number n of the peer, header and payload, is written into block n modulo their number. It is there
/// when the counter in its trailer says so, and stays until it is given back. Layout: `mailbox_layout`.
/// Source: Liu, Wu, Kini, Wyckoff, Panda: High performance RDMA-based MPI implementation over InfiniBand,
/// ICS 2003.
class eager_ring {
 public:
  /// Of messages of at most so many bytes, their headers included.
  eager_ring(std::size_t message_bytes, std::uint32_t blocks) noexcept
      : layout_{message_bytes + sizeof(mailbox_trailer), blocks} {}

  [[nodiscard]] std::size_t inbox_bytes() const noexcept { return layout_.total_bytes(); }
  /// What is to lie behind each other where a message is written from: it, padding and its trailer.
  [[nodiscard]] std::size_t message_bytes() const noexcept { return layout_.message_bytes(); }

  /// Writes message `number`, the first `bytes` at `place`, which has room for `message_bytes()`, is
  /// registered under `lkey` and does not change until the message is given back. `separate_counter`: the
  /// device places data in no order. Precondition: there is room for two requests.
  void write(connections& links, connection& to, std::uint64_t number, std::byte* place, std::size_t bytes,
             std::uint32_t lkey, bool separate_counter) const;

  struct message {
    bool is_there = false;
    std::span<const std::byte> bytes{};  ///< empty if what is there is no message
  };
  /// Message `number` of the peer whose connection has that inbox, of `inbox_bytes()`. What the peer wrote is
  /// checked: its length, and that it has not overwritten what was not given back.
  [[nodiscard]] message find(const std::byte* inbox, std::uint64_t number) const noexcept;

 private:
  mailbox_layout layout_;
};

}  // namespace chorale::transport
