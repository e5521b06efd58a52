// What happens to ghosts, in the order of time.
#pragma once

#include <cstddef>
#include <cstdint>

#include <chorale/simulation/time.hpp>

#include "../timetable.hpp"

namespace chorale::simulation::ghosts {

/// As `event_queue`, of what is a member function and an object that it is called with: there are as many as
/// messages are on their way, and each takes 40 bytes.
class agenda {
 public:
  [[nodiscard]] bool empty() const noexcept { return pending_ == 0; }
  /// The instant of what comes first. Not of an empty one.
  [[nodiscard]] instant first() { return entries_.first().when; }
  /// `(in.*Function)(about)` at `when`; equal instants in the order of insertion.
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
  /// What comes first happens; it may add other things.
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

  /// With many of them, what they are about is not in the cache.
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
