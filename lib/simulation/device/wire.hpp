// SPDX-License-Identifier: Apache-2.0
// The times that adapters and their network take, computed for each message of the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <infiniband/verbs.h>

#include <chorale/simulation/machine/machine.hpp>

#include "../machine/adapter.hpp"
#include "../network/network.hpp"

namespace chorale::simulation::device {

/// The adapters of a machine, and the network between them. They remember their busy times, so the functions
/// are called in the order of virtual time. Hosts are numbered from 0.
class wire {
 public:
  /// The first `hosts` of a valid machine (`validate`).
  wire(const machine& on, int hosts);

  /// When a message that the adapter of a host gets at `now` leaves.
  departure send(int host, const outgoing& what, instant now);
  /// The same for the next burst of a message whose last burst left as `before` and arrives as `there`.
  departure send_next(int host, const outgoing& what, const departure& before, const arrival& there);
  /// When the message is at the other host.
  arrival carry(int from, int to, const outgoing& what, const departure& leaves);
  /// The same for a datagram to a group, which the switches replicate: an arrival for each host. `group`
  /// selects among equally short routes.
  std::vector<arrival> carry_to_group(int from, std::span<const int> to, const outgoing& what,
                                      const departure& leaves, std::uint32_t group);
  /// When the message is in memory at `host`.
  placement receive(int host, const arrival& when, const incoming& what);
  /// When the answer to such a message leaves: the data of an RDMA read, the result of an atomic operation.
  departure answer_read(int host, const placement& request, const outgoing& data);
  departure answer_atomic(const placement& request) const;

  // The processor's time in the calls of verbs.

  /// One call that posts `requests` sends, `datagrams` of them datagrams, with `inline_bytes` in total.
  [[nodiscard]] duration post(std::size_t requests, std::size_t datagrams, std::uint64_t inline_bytes) const;
  [[nodiscard]] duration post_receives(std::size_t requests) const;
  /// A poll of a completion queue that finds `found` completions.
  [[nodiscard]] duration poll(std::size_t found) const;
  [[nodiscard]] duration register_memory(std::uint64_t bytes) const;
  [[nodiscard]] duration deregister_memory(std::uint64_t bytes) const;

  [[nodiscard]] const adapter_costs& costs() const noexcept { return costs_; }
  [[nodiscard]] const network& links() const noexcept { return network_; }
  /// The largest MTU of verbs that fits into the network's packets.
  [[nodiscard]] ibv_mtu mtu() const noexcept { return mtu_; }

 private:
  [[nodiscard]] adapter& at(int host) { return adapters_[static_cast<std::size_t>(host)]; }

  adapter_costs costs_;
  network network_;
  std::vector<adapter> adapters_;
  ibv_mtu mtu_;
  duration hindsight_;  ///< calls concern times at most this long before the present
};

}  // namespace chorale::simulation::device
