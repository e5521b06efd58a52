// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace chorale::simulation {

network::network(const network_costs& costs, std::uint32_t hosts)
    : costs_(costs), hosts_(hosts), routes_(routes_of(costs.shape)) {
  links_.resize(std::visit([](const auto& ways) { return ways.links(); }, routes_));
}

std::uint64_t network::bytes_on_link(std::uint64_t bytes, service kind) const noexcept {
  const auto payload = costs_.packets.payload;
  const auto packets = bytes == 0 ? 1 : (bytes + payload - 1) / payload;
  return bytes + packets * (kind == service::connected ? costs_.packets.connected : costs_.packets.datagram);
}

const link_costs& network::costs_of(link_number over) const {
  switch (std::visit([over](const auto& ways) { return ways.kind(over); }, routes_)) {
    case link_kind::host:
      return costs_.host_link;
    case link_kind::between_switches:
      return costs_.switch_link;
    case link_kind::between_groups:
      break;
  }
  return costs_.global_link;
}

network::progress network::pass(link_number over, const progress& before, instant not_before,
                                std::uint64_t bytes) {
  const auto& costs = costs_of(over);
  auto& state = links_[over];
  state.taken.forget(now_);
  const auto length = costs.rate(bytes);
  const auto begin = state.taken.take(std::max(before.at.first, not_before), length);
  const auto end = std::max(begin + length, before.at.last);
  state.bytes += bytes;
  ++state.messages;
  return {{begin + costs.delay, end + costs.delay}, over};
}

network::progress network::through_switch(const progress& before, link_number over,
                                          const message& what) const {
  auto at = before.at;
  if (costs_.switches.whole_packets) {
    const auto payload = std::uint64_t{costs_.packets.payload};
    const auto first = bytes_on_link(std::min(what.bytes, payload), what.kind);
    const auto rest = what.bytes == 0 ? 0 : (what.bytes - 1) % payload + 1;
    at.first = std::min(at.first + costs_of(before.over).rate(first), at.last);
    at.last += costs_of(over).rate(bytes_on_link(rest, what.kind));
  }
  const auto& costs = costs_.switches;
  const auto wait = costs.forward + costs.replicate * before.copies;
  return {{at.first + wait, at.last + wait}};
}

arrival network::carry(const message& what, host_number to) {
  const auto bytes = bytes_on_link(what.bytes, what.kind);
  auto& free = flows_.of(what.from, to);
  progress now{{what.first, std::max(what.first, what.last)}};
  if (what.from == to) {
    const auto begin = std::max(what.first, free);
    free = std::max(begin + costs_.host_link.rate(bytes), now.at.last);
    return {begin, free};
  }
  way_.clear();
  std::visit([&](const auto& ways) { ways.append(what.from, to, to, way_); }, routes_);
  for (const auto over : way_) {
    if (over != way_.front()) now = through_switch(now, over, what);
    now = pass(over, now, over == way_.back() ? free : instant{}, bytes);
  }
  free = now.at.last - costs_of(way_.back()).delay;
  return now.at;
}

std::vector<arrival> network::multicast(const message& what, std::span<const host_number> to,
                                        std::uint32_t group) {
  const auto bytes = bytes_on_link(what.bytes, what.kind);
  std::unordered_map<link_number, progress> reached;
  progress sender{{what.first, std::max(what.first, what.last)}};
  std::vector<arrival> arrivals;
  arrivals.reserve(to.size());
  for (const auto host : to) {
    if (host == what.from) {
      arrivals.push_back(carry(what, host));
      continue;
    }
    way_.clear();
    std::visit([&](const auto& ways) { ways.append(what.from, host, group, way_); }, routes_);
    auto* before = &sender;
    auto& free = flows_.of(what.from, host);
    for (const auto over : way_) {
      const auto [found, is_new] = reached.try_emplace(over);
      if (is_new) {
        const auto ready = before == &sender ? *before : through_switch(*before, over, what);
        ++before->copies;
        found->second = pass(over, ready, over == way_.back() ? free : instant{}, bytes);
      }
      before = &found->second;
    }
    free = before->at.last - costs_.host_link.delay;
    arrivals.push_back(before->at);
  }
  return arrivals;
}

void network::forget(instant now) {
  now_ = std::max(now_, now);
  flows_.forget(now_);
}

route network::way(host_number from, host_number to) const {
  route links;
  if (from != to) std::visit([&](const auto& ways) { ways.append(from, to, to, links); }, routes_);
  return links;
}

std::string network::name(const vertex& of) const {
  if (of.is_host) return fmt::format("host {}", of.number);
  return std::visit([&](const auto& ways) { return ways.name(of.number); }, routes_);
}

std::vector<link_load> network::loads() const {
  std::vector<link_load> all;
  for (link_number number = 0; number < links_.size(); ++number) {
    const auto& state = links_[number];
    if (state.messages == 0) continue;
    const auto ends = std::visit([number](const auto& ways) { return ways.ends(number); }, routes_);
    all.push_back({fmt::format("{} to {}", name(ends.from), name(ends.to)), state.bytes, state.messages,
                   state.taken.taken()});
  }
  return all;
}

}  // namespace chorale::simulation
