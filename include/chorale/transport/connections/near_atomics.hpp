// SPDX-License-Identifier: Apache-2.0
// Connections for atomic operations on memory of near peers.
#pragma once

#include <cstdint>

#include <chorale/transport/connections/connections.hpp>

namespace chorale::transport {

/// Connections to the ranks of this place through the device between places. They carry only atomic
/// operations: a message from a peer breaks its connection. One thread at a time.
class near_atomics final : private connection_user {
 public:
  /// `others`: the connections that carry everything else. It must outlive this.
  explicit near_atomics(connections& others)
      : links(others.owner(), others.port(), *this,
              {.limit = others.common_lane().options.limit,
               .inbox_bytes = mailbox_layout::blocks_offset,
               .message_bytes = sizeof(std::uint64_t),
               .receives = 1,
               .posts_receives = false},
              number) {}

  connections links;

 private:
  /// Above the numbers of the rails of a transport.
  static constexpr std::uint16_t number = 16;

  void on_accepted(connection&) override {}
  void on_closed(connection&) noexcept override {}
  void on_notice(connection& from, std::uint32_t) override { refuse(from); }
  void on_written(connection& from, std::uint32_t) override { refuse(from); }
  void on_message(connection& from, std::uint64_t, const ibv_wc&) override { refuse(from); }
  void count(int, ledger&) const noexcept override {}
  [[nodiscard]] bool admits(int) const noexcept override { return true; }
  void refuse(connection& from) {
    links.break_off(from, "it sent a message where only atomic operations belong");
  }
};

}  // namespace chorale::transport
