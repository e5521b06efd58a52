// The way between adapters: when the first and the last byte of a message arrive.
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

/// Whose headers a message has.
enum class service : std::uint8_t { connected, datagram };

/// What an adapter puts on its link.
struct message {
  host_number from = 0;
  std::uint64_t bytes = 0;  ///< without headers; may be 0
  service kind = service::connected;
  instant first;  ///< at which its first byte is ready to leave
  instant last;   ///< at which its last byte is; not before `first`
};

/// When a message is at the port of the adapter that it goes to.
struct arrival {
  instant first;  ///< its first byte
  instant last;   ///< its last byte

  friend constexpr bool operator==(const arrival&, const arrival&) noexcept = default;
};

/// All links and switches of a machine: a state machine without a clock. Who has a message asks once when it
/// arrives; in asking, the message takes the links on its way for the times in which it will pass. Each link
/// carries one message at a time, in the order in which they would reach it, and none passes another of the
/// same two hosts. Messages wait in the switch before a link that is taken; switches have room for all that
/// wait, which real ones have not. A long message keeps a link to itself: who wants several senders to share
/// a link as packets do asks for a part at a time, when the part leaves.
///
/// The times are exact where messages are asked for in the order in which they leave; one that leaves before
/// another, but is asked for after it, goes behind it where it does not fit before it.
class network {
 public:
  /// The network between `hosts` hosts. `costs` are valid (`validate`).
  network(const network_costs& costs, std::uint32_t hosts);

  /// When the message is at `to`. From a host to itself it goes through the adapter alone.
  arrival carry(const message& what, host_number to);

  /// When a multicast is at each host of `to`, in that order; switches copy it, so each link carries it once.
  /// `group` chooses among ways that are as short.
  std::vector<arrival> multicast(const message& what, std::span<const host_number> to, std::uint32_t group);

  /// No message will leave before `now` any more: what is over is forgotten. Memory stays in proportion to
  /// what is under way if this is called from time to time.
  void forget(instant now);

  [[nodiscard]] std::uint32_t hosts() const noexcept { return hosts_; }

  /// The bytes of a message on a link, with the headers of its packets.
  [[nodiscard]] std::uint64_t bytes_on_link(std::uint64_t bytes, service kind) const noexcept;

  /// The links from one host to another; none to itself.
  [[nodiscard]] route way(host_number from, host_number to) const;

  /// What went over each link that carried anything, by number.
  [[nodiscard]] std::vector<link_load> loads() const;

  /// Bytes with headers, over all links.
  [[nodiscard]] std::uint64_t bytes_over_links() const noexcept;

 private:
  struct link_state {
    occupancy taken;
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0;
  };
  // A message at the end of a link, or before its first.
  struct progress {
    arrival at;
    link_number over = 0;      // that link
    std::uint32_t copies = 0;  // that have left from there
  };

  /// Over a link whose first and last byte are ready as `before` says.
  progress pass(link_number over, const progress& before, instant not_before, std::uint64_t bytes);
  /// From the end of a link to where it can go over the next.
  [[nodiscard]] progress through_switch(const progress& before, link_number over, const message& what) const;
  [[nodiscard]] const link_costs& costs_of(link_number over) const;
  [[nodiscard]] std::string name(const vertex& of) const;

  network_costs costs_;
  std::uint32_t hosts_;
  routes routes_;
  std::vector<link_state> links_;
  flow_ends flows_;  // when the last link of a pair of hosts is no longer taken by it
  instant now_{};
  route way_;  // of the message that is asked for, kept for its memory
};

}  // namespace chorale::simulation
