// SPDX-License-Identifier: Apache-2.0
// The multicast protocol of one rank: a sender, a receiver, and the dispatch of datagrams to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <chorale/core/clock.hpp>
#include <chorale/transport/multicast/multicast_statistics.hpp>

#include "multicast_port.hpp"
#include "multicast_receiver.hpp"
#include "multicast_sender.hpp"

namespace chorale::transport {

/// The whole multicast protocol of a rank, sans-I/O: packets and times in, packets and verdicts out.
/// docs/multicast.md describes it. Not thread-safe.
class multicast_protocol {
 public:
  using time_point = clock::time_point;

  /// `port` must outlive this.
  multicast_protocol(multicast_port& port, const multicast_options& options)
      : options_(options), sender_(port, options_, counters_), receiver_(port, options_, counters_) {}
  multicast_protocol(const multicast_protocol&) = delete;
  multicast_protocol& operator=(const multicast_protocol&) = delete;

  // Incoming datagrams. False if malformed, which is only counted.
  /// A datagram that arrived by multicast; nothing if no rank of the group has sent it.
  bool on_multicast(const std::optional<received_datagram>& datagram);
  /// A datagram from a single rank, without its header.
  bool on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body, time_point now);

  /// True if `progress` has work to do.
  [[nodiscard]] bool is_pending() const noexcept { return receiver_.is_pending() || sender_.is_stopped(); }
  /// Sends NAKs, questions, and acknowledgements that could not be sent earlier.
  void progress(time_point now) {
    receiver_.progress(now);
    sender_.progress(now);
  }

  [[nodiscard]] const multicast_options& options() const noexcept { return options_; }
  [[nodiscard]] multicast_sender& sender() noexcept { return sender_; }
  [[nodiscard]] multicast_receiver& receiver() noexcept { return receiver_; }
  [[nodiscard]] const multicast_statistics& statistics() const noexcept { return counters_; }

 private:
  bool take_multicast(const received_datagram& datagram);
  bool take_datagram(int from, std::uint16_t kind, std::span<const std::byte> body, time_point now);
  bool counted(bool taken) noexcept {
    if (!taken) ++counters_.refused;
    return taken;
  }

  multicast_options options_;
  multicast_statistics counters_;
  multicast_sender sender_;
  multicast_receiver receiver_;
};

}  // namespace chorale::transport
