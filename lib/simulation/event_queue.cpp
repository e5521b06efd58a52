#include "event_queue.hpp"

#include <algorithm>
#include <cstring>

namespace chorale::simulation {
namespace {

constexpr std::size_t children = 4;
constexpr std::size_t cache_line = 64;
/// Of what the next event is about.
constexpr std::size_t fetched_bytes = 4 * cache_line;

}  // namespace

event_queue::~event_queue() {
  for (const entry& e : heap_) cancel(e.what);
}

instant event_queue::first() noexcept {
  drop_cancelled();
  return heap_.front().when;
}

bool event_queue::cancel(event_id event) noexcept {
  if (event.slot == none) return false;
  slot& s = at(event.slot);
  if (s.generation != event.generation || s.act == nullptr) return false;
  s.act(s.place, false);
  free_slot(event.slot);
  return true;
}

void event_queue::happen() {
  drop_cancelled();
  const std::uint32_t number = heap_.front().what.slot;
  pop();
  fetch_ahead();
  slot& s = at(number);
  // From here on nobody can cancel it; its slot is free when it has been called.
  ++s.generation;
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
  --pending_;
}

void event_queue::push(instant when, event_id what) {
  const entry added{when, order_++, what};
  heap_.push_back(added);
  std::size_t hole = heap_.size() - 1;
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / children;
    if (!added.before(heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = added;
}

void event_queue::pop() noexcept {
  const entry moved = heap_.back();
  heap_.pop_back();
  if (heap_.empty()) return;
  std::size_t hole = 0;
  for (;;) {
    const std::size_t begin = hole * children + 1;
    const std::size_t end = std::min(begin + children, heap_.size());
    if (begin >= end) break;
    std::size_t least = begin;
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (heap_[i].before(heap_[least])) least = i;
    }
    if (!heap_[least].before(moved)) break;
    heap_[hole] = heap_[least];
    hole = least;
  }
  heap_[hole] = moved;
}

void event_queue::fetch_ahead() noexcept {
  // Those that may come next but one.
  for (std::size_t i = 1; i < std::min(heap_.size(), 1 + children); ++i)
    __builtin_prefetch(&at(heap_[i].what.slot));
  if (heap_.empty()) return;
  // Functions of events capture first what they are members of, and then what they are about. If it is no
  // address, the prefetch does nothing.
  const slot& next = at(heap_.front().what.slot);
  std::uintptr_t about = 0;
  std::memcpy(&about, next.place + sizeof about, sizeof about);
  for (std::size_t byte = 0; byte < fetched_bytes; byte += cache_line)
    __builtin_prefetch(reinterpret_cast<const void*>(about + byte));
}

void event_queue::drop_cancelled() noexcept {
  while (!heap_.empty() && at(heap_.front().what.slot).generation != heap_.front().what.generation) pop();
}

}  // namespace chorale::simulation
