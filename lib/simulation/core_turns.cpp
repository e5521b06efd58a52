// SPDX-License-Identifier: Apache-2.0
#include "core_turns.hpp"

#include <algorithm>
#include <utility>

#include "fiber.hpp"

namespace chorale::simulation {

core_turns::core_turns(event_queue& queue, fiber*& next, const shared_hosts& hosts)
    : queue_(&queue), next_(&next), about_(hosts) {
  if (about_.cores == 0) return;
  for (int number = 0; number < about_.ranks.hosts(); ++number) {
    hosts_.push_back(
        about_.ranks.ranks_on(number) <= about_.cores
            ? nullptr
            : std::make_unique<host>(host{host_cores{about_.cores, about_.costs},
                                          std::vector<event_id>(static_cast<std::size_t>(about_.cores))}));
  }
}

void core_turns::adopt(fiber& born) {
  if (born.rank < 0) return;
  const auto of = static_cast<std::size_t>(about_.ranks.host_of(born.rank));
  if (of >= hosts_.size() || hosts_[of] == nullptr) return;
  born.place.of = &hosts_[of]->cores;
  born.place.host = of;
  born.place.number = static_cast<shared_core::thread>(fibers_.size());
  fibers_.push_back(&born);
}

void core_turns::compete(fiber& who, instant now) {
  core_place& place = who.place;
  if (place.can_run) return;
  place.last = place.of->add(place.number, place.last, now);
  place.can_run = true;
  plan(place.host, *place.last);
}

void core_turns::leave(fiber& who, instant now) {
  core_place& place = who.place;
  if (!place.can_run) return;
  place.can_run = false;
  const auto moved = place.of->remove(place.number, *place.last, now);
  plan(place.host, *place.last);
  if (!moved) return;
  fibers_[moved->who]->place.last = moved->to;
  plan(place.host, moved->from);
}

bool core_turns::has_core(const fiber& who) noexcept {
  return who.place.can_run && (*who.place.of)[*who.place.last].holder() == who.place.number;
}

void core_turns::give_way(fiber& who, instant now, instant due) {
  (*who.place.of)[*who.place.last].give_way(now, due);
  plan(who.place.host, *who.place.last);
}

void core_turns::hurry(fiber& who, instant due) {
  if (!who.place.can_run) return;
  (*who.place.of)[*who.place.last].hurry(who.place.number, std::max(due, who.time));
  plan(who.place.host, *who.place.last);
}

/// Replaces the planned turn of a core by the next one that its queue gives.
void core_turns::plan(std::size_t of, std::size_t core) {
  host& at = *hosts_[of];
  queue_->cancel(at.turns[core]);
  const auto turn = at.cores[core].next();
  if (!turn) return;
  at.turns[core] = queue_->add(turn->when, [this, &at, core, turn = *turn] {
    at.cores[core].begin(turn);
    *next_ = fibers_[turn.who];
    // The fiber needs no other event to resume it.
    queue_->cancel((*next_)->turn);
  });
}

}  // namespace chorale::simulation
