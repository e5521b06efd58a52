// SPDX-License-Identifier: Apache-2.0
#include "wire.hpp"

namespace chorale::simulation::device {
namespace {

ibv_mtu mtu_for(std::uint32_t payload) noexcept {
  int mtu = IBV_MTU_256;
  while (mtu < IBV_MTU_4096 && (256U << mtu) <= payload) ++mtu;
  return static_cast<ibv_mtu>(mtu);
}

/// The longest time from a message's last byte at the port to its effect, which may send an answer.
duration longest_handling(const receiving_costs& costs) noexcept {
  return costs.place + costs.take + costs.shared + costs.complete + costs.datagram + costs.acknowledge;
}

simulation::message on_link(int from, const outgoing& what, const departure& leaves) noexcept {
  return {.from = static_cast<host_number>(from),
          .bytes = what.bytes,
          .kind = what.kind,
          .first = leaves.first,
          .last = leaves.last};
}

}  // namespace

wire::wire(const machine& on, int hosts)
    : costs_(on.adapter),
      network_(on.network, static_cast<std::uint32_t>(hosts)),
      adapters_(static_cast<std::size_t>(hosts), adapter{on.adapter, on.network.packets.payload}),
      mtu_(mtu_for(on.network.packets.payload)),
      hindsight_(longest_handling(on.adapter.receiving)) {}

departure wire::send(int host, const outgoing& what, instant now) {
  network_.forget(now - hindsight_);
  at(host).forget(now - hindsight_);
  return at(host).send(now, what);
}

departure wire::send_next(int host, const outgoing& what, const departure& before, const arrival& there) {
  return at(host).send_next(before, there, what);
}

arrival wire::carry(int from, int to, const outgoing& what, const departure& leaves) {
  return network_.carry(on_link(from, what, leaves), static_cast<host_number>(to));
}

std::vector<arrival> wire::carry_to_group(int from, std::span<const int> to, const outgoing& what,
                                          const departure& leaves, std::uint32_t group) {
  const std::vector<host_number> hosts(to.begin(), to.end());
  return network_.multicast(on_link(from, what, leaves), hosts, group);
}

placement wire::receive(int host, const arrival& when, const incoming& what) {
  return at(host).receive(when, what);
}

departure wire::answer_read(int host, const placement& request, const outgoing& data) {
  return at(host).answer_read(request, data);
}

departure wire::answer_atomic(const placement& request) const {
  const instant leaves = request.answered - costs_.receiving.acknowledge + costs_.receiving.atomic;
  return {leaves, leaves};
}

duration wire::post(std::size_t requests, std::size_t datagrams, std::uint64_t inline_bytes) const {
  const posting_costs& costs = costs_.posting;
  return costs.doorbell + costs.request * static_cast<std::int64_t>(requests) +
         costs.address * static_cast<std::int64_t>(datagrams) + costs.inline_copy(inline_bytes);
}

duration wire::post_receives(std::size_t requests) const {
  return costs_.posting.receive * static_cast<std::int64_t>(requests);
}

duration wire::poll(std::size_t found) const {
  return costs_.posting.poll + costs_.posting.completion * static_cast<std::int64_t>(found);
}

duration wire::register_memory(std::uint64_t bytes) const {
  return time_to_register(costs_.registration, bytes);
}

duration wire::deregister_memory(std::uint64_t bytes) const {
  return time_to_deregister(costs_.registration, bytes);
}

}  // namespace chorale::simulation::device
