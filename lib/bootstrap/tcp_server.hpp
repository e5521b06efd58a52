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

#include "../core/unique_fd.hpp"
#include "tcp_root.hpp"

namespace chorale::bootstrap {

/// As `tcp_client` in what `tcp` uses of it. Not thread-safe.
class tcp_server {
 public:
  /// `listener` may be none if there is no other rank.
  tcp_server(const tcp_claim& mine, std::span<const std::byte> secret, detail::unique_fd listener);
  tcp_server(const tcp_server&) = delete;
  tcp_server& operator=(const tcp_server&) = delete;

  /// Waits for at most `longest` for something to happen, and does what is to be done then.
  void step(clock::duration longest);
  /// Has everyone told who is late, and fails by that.
  bool give_up(std::chrono::milliseconds waited);
  /// After a failure: until the others know it, for at most a second.
  void linger();
  /// Ends the connections for the other ranks.
  void end() noexcept;

  [[nodiscard]] std::optional<tcp_welcome> welcome() const;
  void contribute(std::span<const std::byte> mine) { root_.contribute(mine); }
  /// The messages of all ranks, once they are here and on their way to all.
  [[nodiscard]] std::optional<cards> finished_round();
  [[nodiscard]] const std::optional<tcp_failure>& failure() const noexcept { return root_.failure(); }
  /// What is waited for, for a report.
  [[nodiscard]] std::string awaited() const;

 private:
  void accept_all();
  void read(int connection);
  /// False if it is closed.
  bool write(int connection);
  [[nodiscard]] bool is_flushed() const;

  tcp_root root_;
  detail::unique_fd listener_;
  std::map<int, detail::unique_fd> sockets_;
  int connections_ = 0;  ///< ever
  std::optional<cards> finished_;
  tcp_bytes room_;
};

}  // namespace chorale::bootstrap
