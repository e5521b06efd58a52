// SPDX-License-Identifier: Apache-2.0
#include "event_queue.hpp"

#include <cstring>

namespace chorale::simulation {
namespace {

constexpr std::size_t cache_line = 64;
/// The slots of events are prefetched this many events ahead, and the objects of events `ahead`.
constexpr std::size_t slots_ahead = 8;
constexpr std::size_t ahead = 3;
/// The size of what is prefetched of an event's object.
constexpr std::size_t fetched_bytes = 4 * cache_line;

}  // namespace

event_queue::~event_queue() {
  for (; !entries_.empty(); entries_.take_first()) cancel(entries_.first().what);
}

instant event_queue::first() {
  drop_cancelled();
  return entries_.first().when;
}

bool event_queue::cancel(event_id event) noexcept {
  if (event.slot == none) return false;
  slot& s = at(event.slot);
  if (s.generation != event.generation || s.act == nullptr) return false;
  s.act(s.place, false);
  free_slot(event.slot);
  --pending_;
  return true;
}

void event_queue::happen() {
  drop_cancelled();
  const std::uint32_t number = entries_.first().what.slot;
  entries_.take_first();
  fetch_ahead();
  slot& s = at(number);
  // From here on the event cannot be cancelled, and the queue may be empty; the slot is free after the call.
  ++s.generation;
  --pending_;
  struct freed {
    event_queue* queue;
    std::uint32_t number;
    ~freed() { queue->free_slot(number); }
  } const after{this, number};
  std::exchange(s.act, nullptr)(s.place, true);
}

std::uint32_t event_queue::take_slot() {
  if (free_ == none) {
    const auto begin = static_cast<std::uint32_t>(chunks_.size()) * in_chunk;
    chunks_.push_back(std::make_unique<slot[]>(in_chunk));
    for (std::uint32_t i = in_chunk; i-- > 0;) {
      chunks_.back()[i].next_free = free_;
      free_ = begin + i;
    }
  }
  ++pending_;
  return std::exchange(free_, at(free_).next_free);
}

void event_queue::free_slot(std::uint32_t number) noexcept {
  slot& s = at(number);
  s.act = nullptr;
  ++s.generation;
  s.next_free = std::exchange(free_, number);
}

void event_queue::fetch(std::uintptr_t begin, std::size_t bytes) noexcept {
  for (std::size_t byte = 0; byte < bytes; byte += cache_line)
    __builtin_prefetch(reinterpret_cast<const void*>(begin + byte));
}

void event_queue::fetch_ahead() noexcept {
  if (const auto* const later = entries_.after_first(slots_ahead))
    fetch(reinterpret_cast<std::uintptr_t>(&at(later->what.slot)), sizeof(slot));
  const auto* const sooner = entries_.after_first(ahead);
  if (sooner == nullptr) return;
  // The function of an event captures first its owner, then its object. If the second capture is no address,
  // the prefetch does nothing.
  std::uintptr_t about = 0;
  std::memcpy(&about, at(sooner->what.slot).place + sizeof about, sizeof about);
  fetch(about, fetched_bytes);
}

void event_queue::drop_cancelled() {
  while (!entries_.empty() && at(entries_.first().what.slot).generation != entries_.first().what.generation)
    entries_.take_first();
}

}  // namespace chorale::simulation
