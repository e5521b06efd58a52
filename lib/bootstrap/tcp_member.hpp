// SPDX-License-Identifier: Apache-2.0
// A rank of bootstrap::tcp that connects to the root, sans-I/O: bytes in, bytes and verdicts out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tcp_channel.hpp"
#include "tcp_messages.hpp"

namespace chorale::bootstrap {

/// One connection to a process that may be the root. Not thread-safe.
class tcp_member {
 public:
  tcp_member(const tcp_claim& mine, std::span<const std::byte> secret, const tcp_nonce& drawn);

  void received(std::span<const std::byte> bytes);
  /// The other side has closed the connection, or it is broken. A member that is not seated may try again.
  void closed();
  [[nodiscard]] bool is_seated() const noexcept { return is_seated_; }
  /// Bytes for the other side; empty if there are none.
  [[nodiscard]] std::span<const std::byte> outgoing() const noexcept { return channel_.outgoing(); }
  void sent(std::size_t bytes) noexcept { channel_.sent(bytes); }

  /// Whether the other side speaks the protocol: then `join` may be called.
  [[nodiscard]] bool has_greeted() const noexcept { return channel_.has_greeted(); }
  /// Why the other side is not the root of this job.
  [[nodiscard]] tcp_fault fault() const noexcept { return channel_.fault(); }
  /// Says which rank this is. The root answers that it accepts it, and, later, that all ranks have joined.
  void join();
  [[nodiscard]] const std::optional<tcp_welcome>& welcome() const noexcept { return welcome_; }
  /// Sends this rank's message of an exchange.
  void contribute(std::span<const std::byte> mine);
  /// The messages of all ranks, once they have arrived.
  [[nodiscard]] std::optional<cards> finished_round();
  /// Tells the root that the deadline of this rank has passed; the root knows which ranks are late.
  void give_up(std::chrono::milliseconds waited);
  /// Why the group has failed.
  [[nodiscard]] const std::optional<tcp_failure>& failure() const noexcept { return failure_; }

 private:
  void read(const tcp_message& message);
  void fail(tcp_failure why);

  tcp_claim mine_;
  tcp_channel channel_;
  bool is_seated_ = false;
  std::optional<tcp_welcome> welcome_;
  std::uint64_t round_ = 0;
  bool is_waiting_ = false;  ///< for the messages of this round
  std::optional<cards> all_;
  std::optional<tcp_failure> failure_;
};

}  // namespace chorale::bootstrap
