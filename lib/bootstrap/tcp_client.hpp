// SPDX-License-Identifier: Apache-2.0
// A rank of bootstrap::tcp that connects to the root, with its sockets.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/clock.hpp>

#include "../core/process_fd.hpp"
#include "tcp_member.hpp"
#include "tcp_sockets.hpp"

namespace chorale::bootstrap {

/// Tries all addresses at once, repeatedly, and joins through the first at which a process speaks the
/// protocol. Not thread-safe.
class tcp_client {
 public:
  /// `addresses`: returns those of the root; called again from time to time. `place`: describes them.
  tcp_client(const tcp_claim& mine, std::span<const std::byte> secret,
             std::function<tcp_resolution()> addresses, std::string place);
  tcp_client(const tcp_client&) = delete;
  tcp_client& operator=(const tcp_client&) = delete;

  /// Waits for at most `longest` for an event, and handles what has happened.
  void step(clock::duration longest);
  /// Asks the root which ranks are late; false if this rank has found no root.
  bool give_up(std::chrono::milliseconds waited);
  void linger() {}
  /// Tells the root that this connection ends.
  void end() noexcept;

  [[nodiscard]] std::optional<tcp_welcome> welcome() const;
  void contribute(std::span<const std::byte> mine) { joined().machine->contribute(mine); }
  /// The messages of all ranks, once they have arrived.
  [[nodiscard]] std::optional<cards> finished_round() { return joined().machine->finished_round(); }
  [[nodiscard]] const std::optional<tcp_failure>& failure() const noexcept;
  /// What this rank waits for, for a report.
  [[nodiscard]] std::string awaited() const;

 private:
  /// An address, and the state of the attempt to join there.
  struct attempt {
    tcp_address at;
    detail::process_fd socket{};
    std::optional<tcp_member> machine{};  ///< once it is connected
    clock::time_point again{};            ///< time of the next attempt, or at which to give this one up
    clock::duration patience{};           ///< for an answer
    bool has_failed = false;
    bool is_refused = false;  ///< the other side has another version or secret
    std::string why{};
  };
  attempt& joined() { return attempts_[static_cast<std::size_t>(joined_)]; }
  [[nodiscard]] const attempt& joined() const { return attempts_[static_cast<std::size_t>(joined_)]; }
  void find_addresses();
  void begin(attempt& one);
  void establish(attempt& one);
  void move(attempt& one);
  void judge(attempt& one);
  void drop(attempt& one, std::string why);
  [[nodiscard]] bool is_idle() const;

  tcp_claim mine_;
  tcp_bytes secret_;
  std::function<tcp_resolution()> addresses_;
  std::string place_;
  std::string why_;  ///< why there are no addresses
  std::vector<attempt> attempts_;
  int joined_ = -1;
  clock::duration pause_;
  clock::time_point asked_{};  ///< when the addresses were last looked up
  std::optional<tcp_failure> failure_;
  tcp_bytes room_;
};

}  // namespace chorale::bootstrap
