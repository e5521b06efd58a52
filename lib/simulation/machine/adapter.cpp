// SPDX-License-Identifier: Apache-2.0
#include "adapter.hpp"

#include <algorithm>
#include <utility>

namespace chorale::simulation {

context_cache::context_cache(std::uint32_t count) : used_ways_(std::min(count, ways)) {
  if (count > 0) sets_.resize(std::max<std::size_t>(1, count / ways));
}

bool context_cache::use(std::uint32_t queue_pair) noexcept {
  if (sets_.empty()) return true;
  auto& contexts = sets_[(queue_pair * 0x9e3779b1U >> 16) % sets_.size()];
  const auto wanted = std::uint64_t{queue_pair} + 1;
  auto carried = wanted;
  for (std::uint32_t i = 0; i < used_ways_; ++i) {
    carried = std::exchange(contexts[i], carried);
    if (carried == wanted) return true;
  }
  return false;
}

adapter::adapter(const adapter_costs& costs, std::uint32_t payload)
    : costs_(costs), payload_(payload), contexts_(costs.contexts.count) {}

instant adapter::begin(occupancy& engine, instant from, std::uint32_t queue_pair, duration length) {
  if (contexts_.use(queue_pair)) return engine.take(from, length);
  return engine.take(from, costs_.contexts.stall + length) + costs_.contexts.miss;
}

departure adapter::send(instant rung, const outgoing& what) {
  const auto& costs = costs_.sending;
  auto taken = costs.gap + costs.packet * further_packets(what.bytes);
  if (costs.alone)
    taken = std::max(taken, costs.start + (what.from_memory ? costs.fetch : duration{}) +
                                costs.alone->rate(what.bytes) + costs.alone->acknowledgement);
  auto ready = begin(sending_, rung, what.queue_pair, taken) + costs.start;
  if (what.kind == service::datagram) ready += costs.datagram;
  if (!what.from_memory) return {ready, ready};
  const auto length = costs_.bus.rate(what.bytes);
  const auto first = to_link_.take(ready + costs.fetch, length);
  return {first, first + length};
}

departure adapter::send_next(const departure& before, const arrival& there, const outgoing& what) {
  // Fetched ahead, and no faster than the link takes it: otherwise the whole message would occupy the link
  // before another has its turn.
  const instant first = std::max(before.last, before.first + (there.last - there.first));
  return send(first - costs_.sending.start - costs_.sending.fetch, what);
}

departure adapter::answer_read(const placement& request, const outgoing& data) {
  // The answer's times are known from the request's; the adapter adds its usual time for sending.
  const instant first = request.answered - costs_.receiving.acknowledge + costs_.receiving.read;
  return send(first - costs_.sending.start - costs_.sending.fetch, data);
}

placement adapter::receive(const arrival& when, const incoming& what) {
  const auto& costs = costs_.receiving;
  const auto taken = costs.gap + costs.packet * further_packets(what.bytes);
  const auto ready = begin(receiving_, when.first, what.queue_pair, taken);
  const auto length = costs_.bus.rate(what.bytes);
  auto& bus = costs_.bus.half_duplex ? to_link_ : to_memory_;
  const auto come = std::max(when.last, bus.take(ready, length) + length);
  placement place;
  place.seen = come + costs.place;
  if (what.kind == service::datagram) place.seen += costs.datagram;
  if (what.takes_receive) place.seen += costs.take;
  if (what.takes_receive && what.shared) place.seen += costs.shared;
  place.completed = place.seen + costs.complete;
  place.answered = come + costs.acknowledge;
  return place;
}

void adapter::forget(instant now) {
  sending_.forget(now);
  receiving_.forget(now);
  to_link_.forget(now);
  to_memory_.forget(now);
}

namespace {

std::int64_t pages(const registration_costs& costs, std::uint64_t bytes) noexcept {
  return static_cast<std::int64_t>((bytes + costs.page_bytes - 1) / costs.page_bytes);
}

}  // namespace

duration time_to_register(const registration_costs& costs, std::uint64_t bytes) noexcept {
  return costs.call + costs.page * pages(costs, bytes);
}

duration time_to_deregister(const registration_costs& costs, std::uint64_t bytes) noexcept {
  return costs.end_call + costs.end_page * pages(costs, bytes);
}

}  // namespace chorale::simulation
