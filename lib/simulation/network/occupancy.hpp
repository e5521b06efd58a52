// SPDX-License-Identifier: Apache-2.0
// When a resource that serves one message at a time is busy: a link, a bus, the engine of an adapter.
#pragma once

#include <cstddef>
#include <vector>

#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// The busy times of a resource, now and later. A message asks once, before it arrives, and takes the first
/// gap into which it fits as a whole: a message that arrives sooner is served sooner, even if it asks later.
class occupancy {
 public:
  /// Occupies the resource for `length`, not before `from`; returns when it begins.
  instant take(instant from, duration length);

  /// No later call concerns times before `before`.
  void forget(instant before) {
    if (last_.end <= before) {
      forget_all();
    } else if (earliest_end_ <= before) {
      forget_earlier(before);
    }
  }

  /// The total time for which the resource was or will be busy.
  [[nodiscard]] duration taken() const noexcept { return taken_; }

 private:
  struct interval {
    instant begin = instant::min();
    instant end = instant::min();
  };

  instant take_between(instant from, duration length);
  void forget_earlier(instant before);
  void forget_all() noexcept {
    earlier_.clear();
    forgotten_ = 0;
    earliest_end_ = instant::max();
    last_ = {};
  }
  void note_earliest() noexcept {
    earliest_end_ = forgotten_ < earlier_.size() ? earlier_[forgotten_].end : instant::max();
  }

  // Ascending and disjoint. The last interval, usually the only one, is `last_`: in a vector it would cost
  // each message one more cache miss.
  std::vector<interval> earlier_;
  std::size_t forgotten_ = 0;              // the number of removed intervals at its beginning
  instant earliest_end_ = instant::max();  // the end of its first remaining interval, cached
  interval last_;                          // empty and before all times if there is none
  duration taken_{};
};

}  // namespace chorale::simulation
