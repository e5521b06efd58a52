// SPDX-License-Identifier: Apache-2.0
// The future events of ghosts, ordered by time.
#pragma once

#include <cstddef>
#include <cstdint>

#include <chorale/simulation/time.hpp>

#include "../timetable.hpp"

namespace chorale::simulation::ghosts {

/// Like `event_queue`, but an event is a member function, its object and its argument: there are as many as
/// messages in flight, and each takes 40 bytes.
class agenda {
 public:
  [[nodiscard]] bool empty() const noexcept { return pending_ == 0; }
  /// The instant of the first event. Precondition: not empty.
  [[nodiscard]] instant first() { return entries_.first().when; }
  /// Calls `(in.*Function)(about)` at `when`; events of equal instants in the order of insertion.
  template <auto Function, class Whose, class What>
  void add(instant when, Whose& in, What& about) {
    ++pending_;
    entries_.add({when,
                  order_++,
                  {[](void* self, void* object) {
                     (static_cast<Whose*>(self)->*Function)(*static_cast<What*>(object));
                   },
                   &in, &about}});
  }
  /// Removes the first event and calls it; it may add others.
  void happen() {
    const auto what = entries_.first().what;
    entries_.take_first();
    --pending_;
    fetch_ahead();
    what.act(what.in, what.about);
  }

 private:
  struct happening {
    void (*act)(void* in, void* about);
    void* in;
    void* about;
  };

  /// With many events, their objects are not in the cache.
  void fetch_ahead() const noexcept {
    constexpr std::size_t ahead = 4;
    constexpr std::size_t cache_line = 64;
    const auto* const later = entries_.after_first(ahead);
    if (later == nullptr) return;
    const auto* const about = static_cast<const std::byte*>(later->what.about);
    __builtin_prefetch(about);
    __builtin_prefetch(about + cache_line);
  }

  timetable<happening> entries_;
  std::uint64_t order_ = 0;
  std::size_t pending_ = 0;
};

}  // namespace chorale::simulation::ghosts
