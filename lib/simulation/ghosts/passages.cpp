#include "passages.hpp"

#include <algorithm>
#include <utility>

namespace chorale::simulation::ghosts {

passages::passages(const machine& on, int hosts, event_queue& queue, events then)
    : costs_(on.adapter),
      network_(on.network, static_cast<std::uint32_t>(on.hosts)),
      adapters_(static_cast<std::size_t>(hosts), adapter{on.adapter, on.network.packets.payload}),
      queue_(queue),
      then_(std::move(then)) {}

adapter& passages::adapter_of(host_number host) {
  adapters_[host].forget(now_);
  return adapters_[host];
}

arrival passages::carry(host_number from, host_number to, std::uint64_t bytes, const departure& leaves) {
  network_.forget(now_);
  return network_.carry({from, bytes, service::connected, leaves.first, leaves.last}, to);
}

void passages::send(flight& one, instant rung) {
  ++messages_;
  // At once if nothing else happens before.
  if (queue_.empty() || queue_.first() > rung) return leave(one, rung);
  at(rung, [this, &one, rung] { leave(one, rung); });
}

void passages::leave(flight& one, instant rung) {
  if (one.over->is_leaving) return one.over->behind.push(&one);
  const auto goes = one.what == flight::kind::get ? 0 : one.bytes;
  one.left = goes;
  if (is_long(one)) one.over->is_leaving = true;
  one.leaves = adapter_of(one.from_host)
                   .send(rung, {.bytes = std::min<std::uint64_t>(goes, costs_.burst),
                                .queue_pair = one.from_queue_pair,
                                .from_memory = goes != 0 && !one.is_in_request});
  one.leaves.first = std::max(one.leaves.first, one.over->departed);
  one.leaves.last = std::max(one.leaves.first, one.leaves.last);
  one.over->departed = one.leaves.last;
  at(one.leaves.first, [this, &one] { depart(one); });
}

void passages::depart(flight& one) {
  const auto burst = std::min<std::uint64_t>(one.left, costs_.burst);
  const auto comes = carry(one.from_host, one.to_host, burst, one.leaves);
  one.left -= burst;
  auto& receiver = adapter_of(one.to_host);
  one.placed = receiver.receive(comes, {.bytes = burst,
                                        .queue_pair = one.to_queue_pair,
                                        .takes_receive = one.left == 0 && one.notifies(),
                                        .shared = one.left == 0 && one.notifies()});
  if (one.left == 0) {
    if (is_long(one)) one.over->is_leaving = false;
    const auto placed = one.notifies() ? one.placed.completed : one.placed.seen;
    one.over->placed = std::max(placed, one.over->placed);
    at(one.over->placed, [this, &one] { arrive(one); });
    while (!one.over->is_leaving && !one.over->behind.empty()) {
      flight& next = *one.over->behind.front();
      one.over->behind.pop();
      leave(next, now_);
    }
    return;
  }
  // The next is fetched ahead, no faster than the link takes it.
  const auto first = std::max(one.leaves.last, one.leaves.first + (comes.last - comes.first));
  one.leaves = adapter_of(one.from_host)
                   .send(first - costs_.sending.start - costs_.sending.fetch,
                         {.bytes = std::min<std::uint64_t>(one.left, costs_.burst),
                          .queue_pair = one.from_queue_pair});
  at(one.leaves.first, [this, &one] { depart(one); });
}

void passages::arrive(flight& one) {
  if (one.what == flight::kind::get) {
    const auto first = one.placed.answered - costs_.receiving.acknowledge + costs_.receiving.read;
    one.leaves = adapter_of(one.to_host)
                     .send(first - costs_.sending.start - costs_.sending.fetch,
                           {.bytes = one.bytes, .queue_pair = one.to_queue_pair});
    return at(one.leaves.first, [this, &one] { bring_back(one); });
  }
  then_.placed(one);
  const auto comes = carry(one.to_host, one.from_host, 0, {one.placed.answered, one.placed.answered});
  const auto confirmed = adapter_of(one.from_host).receive(comes, {.queue_pair = one.from_queue_pair});
  if (!one.is_signalled()) return hangar_.give_back(one);
  complete_at(one, confirmed.completed);
}

void passages::bring_back(flight& one) {
  const auto comes = carry(one.to_host, one.from_host, one.bytes, one.leaves);
  const auto placed =
      adapter_of(one.from_host).receive(comes, {.bytes = one.bytes, .queue_pair = one.from_queue_pair});
  complete_at(one, placed.completed);
}

void passages::complete_at(flight& one, instant when) {
  at(when, [this, &one] {
    then_.completed(one);
    hangar_.give_back(one);
  });
}

}  // namespace chorale::simulation::ghosts
