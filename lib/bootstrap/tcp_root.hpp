// SPDX-License-Identifier: Apache-2.0
// The rank to which all others of bootstrap::tcp connect, sans-I/O: bytes in, bytes and verdicts out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tcp_channel.hpp"
#include "tcp_messages.hpp"

namespace chorale::bootstrap {

/// Connections are identified by numbers, which the caller chooses in ascending order. Not thread-safe.
class tcp_root {
 public:
  /// `job`: an unpredictable number.
  tcp_root(const tcp_claim& mine, std::uint64_t job, std::span<const std::byte> secret);

  /// A process at address `from` has connected. `drawn`: the nonce for this connection.
  void connected(int connection, std::string from, const tcp_nonce& drawn);
  void received(int connection, std::span<const std::byte> bytes);
  /// The other side has closed the connection, or it is broken.
  void closed(int connection);
  /// Bytes for the other side; empty if there are none.
  [[nodiscard]] std::span<const std::byte> outgoing(int connection) const;
  void sent(int connection, std::size_t bytes);
  /// Whether the connection is to be closed once `outgoing` is empty.
  [[nodiscard]] bool is_over(int connection) const;

  /// Whether all ranks have joined.
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }
  [[nodiscard]] tcp_welcome welcome() const { return welcome_; }
  /// Takes this rank's own message of an exchange.
  void contribute(std::span<const std::byte> mine);
  /// The messages of all ranks, once they have arrived.
  [[nodiscard]] std::optional<cards> finished_round();
  /// The deadline of this rank has passed.
  void give_up(std::chrono::milliseconds waited) { give_up(mine_.rank, waited); }
  /// Why the group has failed.
  [[nodiscard]] const std::optional<tcp_failure>& failure() const noexcept { return failure_; }
  /// The ranks that are waited for.
  [[nodiscard]] std::vector<int> missing() const;

 private:
  struct link {
    tcp_channel channel;
    std::string from;
    int rank = -1;
    bool is_over = false;
  };
  /// What is known about a rank.
  struct seat {
    tcp_claim claim;
    int connection = -1;
    std::optional<std::vector<std::byte>> card{};  ///< of this round
    bool has_joined = false;
  };
  void read(link& from, int connection, const tcp_message& message);
  void seat_rank(link& from, int connection, const tcp_claim& claim);
  void take_card(seat& of, std::span<const std::byte> payload);
  void distrust(link& whom);
  void crowd_out();
  void complete();
  void lose(int rank);
  void give_up(int rank, std::chrono::milliseconds waited);
  void fail(std::string text, std::vector<int> ranks);
  [[nodiscard]] std::string whereabouts(int rank) const;

  tcp_claim mine_;
  tcp_bytes secret_;
  tcp_welcome welcome_;
  std::map<int, link> links_;
  std::vector<seat> seats_;
  bool is_complete_ = false;
  std::uint64_t round_ = 0;
  std::optional<tcp_failure> failure_;
  int distrusted_ = 0;           ///< connections that were rejected
  std::string last_distrusted_;  ///< the latest of them, and why
};

}  // namespace chorale::bootstrap
