// SPDX-License-Identifier: Apache-2.0
// The network between adapters: when the first and the last byte of a message arrive.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <chorale/simulation/link_load.hpp>
#include <chorale/simulation/machine/network_costs.hpp>
#include <chorale/simulation/time.hpp>

#include "flow_ends.hpp"
#include "link.hpp"
#include "occupancy.hpp"
#include "routes.hpp"

namespace chorale::simulation {

/// The service whose headers a message has.
enum class service : std::uint8_t { connected, datagram };

/// A message as the sending adapter puts it on its link.
struct message {
  host_number from = 0;
  std::uint64_t bytes = 0;  ///< without headers; may be 0
  service kind = service::connected;
  instant first;  ///< when its first byte is ready to leave
  instant last;   ///< when its last byte is; not before `first`
};

/// When a message is at the port of its target's adapter.
struct arrival {
  instant first;  ///< its first byte
  instant last;   ///< its last byte

  friend constexpr bool operator==(const arrival&, const arrival&) noexcept = default;
};

/// All links and switches of a machine: a state machine without a clock. The sender of a message asks once,
/// when the message leaves; the message then occupies the links of its route for the times in which it will
/// pass. Each link carries one message at a time, in the order in which they would reach it, and messages of
/// the same two hosts never overtake each other. Messages wait in the switch before an occupied link; unlike
/// in real switches, buffers are unlimited. A long message occupies a link for its whole length: a caller
/// that needs several senders to share a link as packets do asks for one part at a time, when the part
/// leaves.
///
/// The times are exact if callers ask in the order in which messages leave. A message for which the caller
/// asks too late passes a link after the messages before which it does not fit.
class network {
 public:
  /// The network between `hosts` hosts. `costs` are valid (`validate`).
  network(const network_costs& costs, std::uint32_t hosts);

  /// Carries a message to `to`. A message from a host to itself passes only through the adapter.
  arrival carry(const message& what, host_number to);

  /// Carries a multicast: the arrival at each host of `to`, in that order. Switches copy it, so each link
  /// carries it once. `group` selects among equally short routes.
  std::vector<arrival> multicast(const message& what, std::span<const host_number> to, std::uint32_t group);

  /// No later call concerns a message that leaves before `now`. Regular calls keep memory proportional to the
  /// number of messages under way.
  void forget(instant now);

  [[nodiscard]] std::uint32_t hosts() const noexcept { return hosts_; }

  /// The bytes of a message on a link, including the headers of its packets.
  [[nodiscard]] std::uint64_t bytes_on_link(std::uint64_t bytes, service kind) const noexcept;

  /// The links from one host to another; none from a host to itself.
  [[nodiscard]] route way(host_number from, host_number to) const;

  /// The load of each link that carried anything, by number.
  [[nodiscard]] std::vector<link_load> loads() const;

 private:
  struct link_state {
    occupancy taken;
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0;
  };
  // A message at the end of a link, or before its first link.
  struct progress {
    arrival at;
    link_number over = 0;      // the link behind it
    std::uint32_t copies = 0;  // copies that have left from there
  };

  /// Passes a link at which the first and last byte are ready as `before` says.
  progress pass(link_number over, const progress& before, instant not_before, std::uint64_t bytes);
  /// From the end of a link to where the message can enter the next.
  [[nodiscard]] progress through_switch(const progress& before, link_number over, const message& what) const;
  [[nodiscard]] const link_costs& costs_of(link_number over) const;
  [[nodiscard]] std::string name(const vertex& of) const;

  network_costs costs_;
  std::uint32_t hosts_;
  routes routes_;
  std::vector<link_state> links_;
  flow_ends flows_;  // when the flow between two hosts stops using its last link
  instant now_{};
  route way_;  // of the current message; a member so that its memory is reused
};

}  // namespace chorale::simulation
