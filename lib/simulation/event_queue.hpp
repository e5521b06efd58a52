// SPDX-License-Identifier: Apache-2.0
// The future events of a simulation, ordered by time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/simulation/time.hpp>

#include "timetable.hpp"

namespace chorale::simulation {

/// Names an event that has been added. The name is invalid once the event has happened or was cancelled.
struct event_id {
  std::uint32_t slot = UINT32_MAX;
  std::uint32_t generation = 0;
};

/// Functions to be called at given instants: the earliest first, those of equal instants in the order of
/// insertion. Memory grows only with the largest number of pending events. A function of up to
/// `event_queue::room` bytes lies in the queue itself.
class event_queue {
 public:
  static constexpr std::size_t room = 64;

  event_queue() = default;
  event_queue(const event_queue&) = delete;
  event_queue& operator=(const event_queue&) = delete;
  /// Destroys the functions of pending events without calling them.
  ~event_queue();

  [[nodiscard]] bool empty() const noexcept { return pending_ == 0; }
  /// The instant of the first event. Precondition: the queue is not empty.
  [[nodiscard]] instant first();
  template <class F>
  event_id add(instant when, F&& what);
  /// Cancels an event. @returns whether it was pending.
  bool cancel(event_id event) noexcept;
  /// Removes the first event and calls its function, which may add and cancel events.
  void happen();

 private:
  struct slot {
    /// Calls the function in `place` if `call` is true, and destroys it.
    void (*act)(void* place, bool call) = nullptr;
    std::uint32_t generation = 0;
    std::uint32_t next_free = none;
    alignas(std::max_align_t) std::byte place[room];
  };
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint32_t in_chunk = 1024;

  [[nodiscard]] slot& at(std::uint32_t number) noexcept {
    return chunks_[number / in_chunk][number % in_chunk];
  }
  std::uint32_t take_slot();
  void free_slot(std::uint32_t number) noexcept;
  void drop_cancelled();
  /// Prefetches the next events while this one happens; with many pending they are not in the cache.
  void fetch_ahead() noexcept;
  static void fetch(std::uintptr_t begin, std::size_t bytes) noexcept;

  std::vector<std::unique_ptr<slot[]>> chunks_;
  std::uint32_t free_ = none;
  std::size_t pending_ = 0;
  std::uint64_t order_ = 0;
  timetable<event_id> entries_;
};

template <class F>
event_id event_queue::add(instant when, F&& what) {
  using function = std::decay_t<F>;
  const std::uint32_t number = take_slot();
  slot& s = at(number);
  if constexpr (sizeof(function) <= room && alignof(function) <= alignof(std::max_align_t)) {
    ::new (static_cast<void*>(s.place)) function(std::forward<F>(what));
    s.act = [](void* place, bool call) {
      auto& f = *static_cast<function*>(place);
      struct destroyed {
        function* f;
        ~destroyed() { f->~function(); }
      } const after{&f};
      if (call) f();
    };
  } else {
    ::new (static_cast<void*>(s.place)) function*(new function(std::forward<F>(what)));
    s.act = [](void* place, bool call) {
      const std::unique_ptr<function> f{*static_cast<function**>(place)};
      if (call) (*f)();
    };
  }
  const event_id event{number, s.generation};
  entries_.add({when, order_++, event});
  return event;
}

}  // namespace chorale::simulation
