// SPDX-License-Identifier: Apache-2.0
// The receiver's side of multicasts: ordering, waiting, and requesting retransmission.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/multicast/multicast_statistics.hpp>

#include "../liveness/awaited.hpp"
#include "multicast_messages.hpp"
#include "multicast_port.hpp"
#include "nak_timer.hpp"

namespace chorale::transport {

/// What one rank has received of all others' multicasts: for each sender the latest signal, and a ring of
/// messages that arrive in any order and are delivered in the order of sending. Sans-I/O: packets and times
/// in, packets and verdicts out. Not thread-safe.
///
/// `on_...` handles a datagram; false if it is malformed, which changes nothing.
class multicast_receiver {
 public:
  using time_point = clock::time_point;

  /// All referenced objects must outlive the receiver.
  multicast_receiver(multicast_port& port, const multicast_options& options, multicast_statistics& counters);

  [[nodiscard]] presence look_for_signal(int root, call_id call) const noexcept;
  /// The next message of `root`, if it has arrived: its bytes stay in the ring until it is released.
  [[nodiscard]] presence look_for_message(int root, call_id call,
                                          std::span<const std::byte>& message) const noexcept;
  // The rank waits for a signal or message: `progress` requests it after a while. One wait at a time.
  void wait_for_signal(int root, call_id call) noexcept;
  void wait_for_message(int root) noexcept;
  // The awaited signal or message has arrived, and the wait is over. `now` matters only if `is_timed()`.
  void take_signal(time_point now) noexcept { naks_.end(now); }
  void take_message(int root, time_point now) noexcept;
  [[nodiscard]] bool is_timed() const noexcept { return naks_.is_waiting() && naks_.is_timed(); }
  /// Releases the oldest message of that sender that was taken.
  void release(int from) noexcept;

  /// True if `progress` has work to do.
  [[nodiscard]] bool is_pending() const noexcept { return naks_.is_waiting() || acknowledgements_due_; }
  /// Sends NAKs that are due, and acknowledgements that could not be sent.
  void progress(time_point now);

  [[nodiscard]] bool on_signal(int from, std::span<const std::byte> body) noexcept;
  [[nodiscard]] bool on_message(int from, std::span<const std::byte> body);
  [[nodiscard]] bool on_question(int from, std::span<const std::byte> body);

  /// Bytes of all allocated rings.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  /// A message that has arrived.
  struct entry {
    std::uint32_t bytes = 0;
    std::uint32_t signature = 0;
    std::uint64_t call = 0;
  };
  /// The multicasts of one sender.
  struct stream {
    std::vector<std::byte> ring;  ///< `multicast_window` payloads; allocated when the first message arrives
    std::array<entry, multicast_window> entries{};
    std::uint32_t released = first_multicast;
    std::uint32_t taken = first_multicast;
    std::uint32_t arrived = first_multicast;  ///< all earlier messages have arrived
    std::uint32_t top = first_multicast;      ///< past the latest message known to exist
    std::uint64_t beyond = 0;                 ///< bit i: message arrived + i has arrived
    std::uint64_t signal = 0;
    bool acknowledgement_due = false;
  };

  [[nodiscard]] stream& from(int rank) noexcept { return streams_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const stream& from(int rank) const noexcept {
    return streams_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] bool is_here(const nak_timer::awaited& what) const noexcept;
  void send_nak(int rank, bool of_message, std::uint64_t word);
  bool acknowledge(int rank) noexcept;

  multicast_port* port_;
  const multicast_options* options_;
  multicast_statistics* counters_;
  std::vector<stream> streams_;
  nak_timer naks_;
  bool heard_ = false;  ///< any multicast at all
  bool acknowledgements_due_ = false;
};

}  // namespace chorale::transport
