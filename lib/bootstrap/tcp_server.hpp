// SPDX-License-Identifier: Apache-2.0
// The root of bootstrap::tcp with its sockets.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/clock.hpp>

#include "../core/process_fd.hpp"
#include "tcp_root.hpp"

namespace chorale::bootstrap {

/// Has the functions of `tcp_client` that `tcp` uses. Not thread-safe.
class tcp_server {
 public:
  /// `listener` may be empty if there is no other rank.
  tcp_server(const tcp_claim& mine, std::span<const std::byte> secret, detail::process_fd listener);
  tcp_server(const tcp_server&) = delete;
  tcp_server& operator=(const tcp_server&) = delete;

  /// Waits for at most `longest` for an event, and handles what has happened.
  void step(clock::duration longest);
  /// Fails the group and tells every rank which ones are late; false if none is.
  bool give_up(std::chrono::milliseconds waited);
  /// After a failure: waits until the other ranks have closed their connections, for at most a second.
  void linger();
  /// Tells the other ranks that their connections end.
  void end() noexcept;

  [[nodiscard]] std::optional<tcp_welcome> welcome() const;
  void contribute(std::span<const std::byte> mine) { root_.contribute(mine); }
  /// The messages of all ranks, once they have arrived and have been passed on to all ranks.
  [[nodiscard]] std::optional<cards> finished_round();
  [[nodiscard]] const std::optional<tcp_failure>& failure() const noexcept { return root_.failure(); }
  /// What this rank waits for, for a report.
  [[nodiscard]] std::string awaited() const;

 private:
  void accept_all();
  void read(int connection);
  /// Sends what is pending. False if the connection is closed.
  bool write(int connection);
  [[nodiscard]] bool is_flushed() const;

  tcp_root root_;
  detail::process_fd listener_;
  std::map<int, detail::process_fd> sockets_;
  int connections_ = 0;  ///< accepted so far
  std::optional<cards> finished_;
  tcp_bytes room_;
};

}  // namespace chorale::bootstrap
