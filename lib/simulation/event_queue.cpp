#include "event_queue.hpp"

#include <algorithm>

namespace chorale::simulation {
namespace {

constexpr std::size_t children = 4;

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

void event_queue::drop_cancelled() noexcept {
  while (!heap_.empty() && at(heap_.front().what.slot).generation != heap_.front().what.generation) pop();
}

}  // namespace chorale::simulation
