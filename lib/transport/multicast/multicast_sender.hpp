// Multicasts as their sender has them: kept until all have them, and sent again for those who ask.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/multicast_statistics.hpp>

#include "multicast_messages.hpp"
#include "multicast_options.hpp"
#include "multicast_port.hpp"

namespace chorale::transport {

/// What one rank multicasts. The last signal and the last `multicast_window` messages stay in their places,
/// from where a NAK has them repeated. A sender whose window is closed, or who is leaving, asks those who lag
/// what they have. Packets and times in, packets out: no device, no clock, no lock. Not thread-safe.
///
/// `on_...` takes what a rank says; false if no rank of the group would have sent it: then nothing changes.
class multicast_sender {
 public:
  using time_point = clock::time_point;
  /// Signals that may be under way; each has a place of its own, behind those of messages.
  static constexpr std::uint32_t signal_places = 8;
  static constexpr std::uint32_t places = multicast_window + signal_places;

  /// All that is referred to outlives the sender.
  multicast_sender(multicast_port& port, const multicast_options& options, multicast_statistics& counters);

  // Attempts: false as long as there is something to wait for.
  bool try_signal(call_id call, time_point now);
  /// `bytes.size()` is at most the largest payload.
  bool try_send(call_id call, std::span<const std::byte> bytes, time_point now);

  /// False while the slowest rank is a window behind, as far as is known.
  [[nodiscard]] bool window_is_open() noexcept {
    return next_ - lowest_ < multicast_window || update_window();
  }
  /// True if an attempt to send has found the window closed: then `progress` has something to do.
  [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }
  /// The rank that keeps the window closed, or any other while it is open.
  [[nodiscard]] int slowest() noexcept;
  /// Asks those who keep the window closed, now and then.
  void progress(time_point now);
  /// True when all ranks that are not lost have all that this one has sent; else asks them, now and then.
  [[nodiscard]] bool settle(time_point now);

  [[nodiscard]] bool on_signal_missing(std::span<const std::byte> body, time_point now);
  [[nodiscard]] bool on_messages_missing(std::span<const std::byte> body, time_point now);
  [[nodiscard]] bool on_acknowledgement(int from, std::span<const std::byte> body) noexcept;

 private:
  /// What is known of one receiver.
  struct receiver {
    std::uint32_t released = first_multicast;
    std::uint32_t arrived = first_multicast;
    std::uint64_t signal = 0;
  };
  /// What was sent last from a place.
  struct kept {
    std::size_t bytes = 0;  ///< of the datagram; 0: none
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
  std::uint32_t lowest_ = first_multicast;  ///< all receivers have given back what is before
  std::uint64_t signal_ = 0;
  std::uint32_t signal_place_ = multicast_window;
  time_point next_question_{};
  clock::duration question_interval_{};
  bool stopped_ = false;
  bool leaving_ = false;
};

}  // namespace chorale::transport
