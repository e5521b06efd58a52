// SPDX-License-Identifier: Apache-2.0
// The sender's side of multicasts: keeps them until all ranks have them, and retransmits on request.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/multicast/multicast_statistics.hpp>

#include "multicast_messages.hpp"
#include "multicast_port.hpp"

namespace chorale::transport {

/// The multicasts of one rank. The latest signal and the last `multicast_window` messages stay in their
/// buffers, from which NAKs trigger retransmission. A sender whose window is closed, or that is leaving, asks
/// lagging receivers what has arrived. Sans-I/O: packets and times in, packets out. Not thread-safe.
///
/// `on_...` handles a datagram; false if it is malformed, which changes nothing.
class multicast_sender {
 public:
  using time_point = clock::time_point;
  /// Maximum of pending signals; each has its own buffer, after those of messages.
  static constexpr std::uint32_t signal_places = 8;
  static constexpr std::uint32_t places = multicast_window + signal_places;

  /// All referenced objects must outlive the sender.
  multicast_sender(multicast_port& port, const multicast_options& options, multicast_statistics& counters);

  // Attempts: false means retry later.
  bool try_signal(call_id call, time_point now);
  /// `bytes.size()` is at most the largest payload.
  bool try_send(call_id call, std::span<const std::byte> bytes, time_point now);

  /// False while the slowest rank is known to be a full window behind.
  [[nodiscard]] bool window_is_open() noexcept {
    return next_ - lowest_ < multicast_window || update_window();
  }
  /// True if an attempt to send found the window closed: then `progress` has work to do.
  [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }
  /// The rank that keeps the window closed; any other rank while it is open.
  [[nodiscard]] int slowest() noexcept;
  /// Occasionally asks the ranks that keep the window closed.
  void progress(time_point now);
  /// True once all ranks that are not lost have received everything; otherwise asks them occasionally.
  [[nodiscard]] bool settle(time_point now);

  [[nodiscard]] bool on_signal_missing(std::span<const std::byte> body, time_point now);
  [[nodiscard]] bool on_messages_missing(std::span<const std::byte> body, time_point now);
  [[nodiscard]] bool on_acknowledgement(int from, std::span<const std::byte> body) noexcept;

 private:
  /// The state of one receiver.
  struct receiver {
    std::uint32_t released = first_multicast;
    std::uint32_t arrived = first_multicast;
    std::uint64_t signal = 0;
  };
  /// The last content of a buffer.
  struct kept {
    std::size_t bytes = 0;  ///< size of the datagram; 0: none
    time_point sent{};
  };

  [[nodiscard]] receiver& at(int rank) noexcept { return receivers_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool lacks_something(const receiver& r) const noexcept;
  bool update_window() noexcept;
  template <class Head>
  bool send(std::uint32_t place, multicast_kind kind, const Head& head, std::span<const std::byte> payload,
            time_point now);
  void repair(std::uint32_t place, time_point now);
  template <class Lags>
  void ask_when_due(time_point now, Lags&& lags);

  multicast_port* port_;
  const multicast_options* options_;
  multicast_statistics* counters_;
  std::vector<receiver> receivers_;
  std::array<kept, places> kept_{};
  std::uint32_t next_ = first_multicast;
  std::uint32_t lowest_ = first_multicast;  ///< all receivers have released everything before
  std::uint64_t signal_ = 0;
  std::uint32_t signal_place_ = multicast_window;
  time_point next_question_{};
  clock::duration question_interval_{};
  bool stopped_ = false;
  bool leaving_ = false;
};

}  // namespace chorale::transport
