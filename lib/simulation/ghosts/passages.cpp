// SPDX-License-Identifier: Apache-2.0
#include "passages.hpp"

#include <algorithm>
#include <utility>

namespace chorale::simulation::ghosts {

passages::passages(const machine& on, const host_layout& ranks, agenda& queue, events then)
    : costs_(on.adapter),
      near_(on.near.value_or(near_costs{})),
      hosts_(ranks),
      network_(on.network, static_cast<std::uint32_t>(on.hosts)),
      adapters_(static_cast<std::size_t>(hosts_.hosts()), adapter{on.adapter, on.network.packets.payload}),
      queue_(queue),
      then_(std::move(then)) {}

adapter& passages::adapter_of(host_number host) {
  adapters_[host].forget(now_);
  return adapters_[host];
}

arrival passages::carry(host_number from, host_number to, std::uint64_t bytes, const departure& leaves) {
  network_.forget(now_);
  adapter_bytes_ += bytes;
  return network_.carry({from, bytes, service::connected, leaves.first, leaves.last}, to);
}

void passages::send(flight& one, instant rung) {
  ++messages_;
  if (one.on->is_near) return cross(one, rung);
  one.leaves.first = rung;
  // At once if no event precedes it.
  if (queue_.empty() || queue_.first() > rung) return leave(one);
  at<&passages::leave>(rung, one);
}

void passages::cross(flight& one, instant copied) {
  auto& over = one.over();
  const auto seen = copied + near_.line;
  if (one.what == flight::kind::get) return at<&passages::show>(seen, one);
  over.placed = std::max(seen, over.placed);
  at<&passages::show>(over.placed, one);
}

void passages::show(flight& one) {
  if (one.what != flight::kind::get) then_.placed(one);
  if (one.is_signalled()) return complete(one);
  if (!one.is_kept()) flights_.give_back(one);
}

/// The adapter gets the message at `leaves.first`, or proceeds to it then.
void passages::leave(flight& one) {
  auto& over = one.over();
  if (over.is_leaving) return over.behind.push(one);
  const auto goes = one.what == flight::kind::get ? 0 : one.bytes;
  one.left = goes;
  if (is_long(one)) over.is_leaving = true;
  one.leaves = adapter_of(from_host(one))
                   .send(one.leaves.first, {.bytes = std::min<std::uint64_t>(goes, costs_.burst),
                                            .queue_pair = one.from_queue_pair(),
                                            .from_memory = goes != 0 && !one.is_in_request});
  one.leaves.first = std::max(one.leaves.first, over.departed);
  one.leaves.last = std::max(one.leaves.first, one.leaves.last);
  over.departed = one.leaves.last;
  at<&passages::depart>(one.leaves.first, one);
}

void passages::depart(flight& one) {
  const auto burst = std::min<std::uint64_t>(one.left, costs_.burst);
  const auto comes = carry(from_host(one), to_host(one), burst, one.leaves);
  one.left -= burst;
  one.placed = adapter_of(to_host(one))
                   .receive(comes, {.bytes = burst,
                                    .queue_pair = one.to_queue_pair(),
                                    .takes_receive = one.left == 0 && one.notifies(),
                                    .shared = one.left == 0 && one.notifies()});
  auto& over = one.over();
  if (one.left == 0) {
    if (is_long(one)) over.is_leaving = false;
    const auto placed = one.notifies() ? one.placed.completed : one.placed.seen;
    over.placed = std::max(placed, over.placed);
    at<&passages::arrive>(over.placed, one);
    while (!over.is_leaving && !over.behind.empty()) {
      flight& next = over.behind.pop();
      next.leaves.first = now_;
      leave(next);
    }
    return;
  }
  one.leaves = adapter_of(from_host(one))
                   .send_next(one.leaves, comes,
                              {.bytes = std::min<std::uint64_t>(one.left, costs_.burst),
                               .queue_pair = one.from_queue_pair()});
  at<&passages::depart>(one.leaves.first, one);
}

void passages::arrive(flight& one) {
  if (one.what == flight::kind::get) {
    one.leaves = adapter_of(to_host(one))
                     .answer_read(one.placed, {.bytes = one.bytes, .queue_pair = one.to_queue_pair()});
    return at<&passages::bring_back>(one.leaves.first, one);
  }
  then_.placed(one);
  const auto comes = carry(to_host(one), from_host(one), 0, {one.placed.answered, one.placed.answered});
  const auto confirmed = adapter_of(from_host(one)).receive(comes, {.queue_pair = one.from_queue_pair()});
  if (one.is_signalled())
    at<&passages::complete>(confirmed.completed, one);
  else if (!one.is_kept())
    flights_.give_back(one);
}

void passages::bring_back(flight& one) {
  const auto comes = carry(to_host(one), from_host(one), one.bytes, one.leaves);
  const auto placed =
      adapter_of(from_host(one)).receive(comes, {.bytes = one.bytes, .queue_pair = one.from_queue_pair()});
  at<&passages::complete>(placed.completed, one);
}

void passages::complete(flight& one) {
  then_.completed(one);
  flights_.give_back(one);
}

}  // namespace chorale::simulation::ghosts
