// When a thing is taken that does one message at a time: a link, a bus, the engine of an adapter.
#pragma once

#include <cstddef>
#include <vector>

#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// The times at which something is taken, now and later. A message asks once, before it comes, and takes the
/// first time in which it fits as a whole: one that comes sooner goes sooner, also if it asks later.
class occupancy {
 public:
  /// Takes it for `length`, not before `from`; gives the instant at which that begins.
  instant take(instant from, duration length);

  /// What lies before `instant` will not be asked for any more.
  void forget(instant before) {
    if (last_.end <= before) {
      forget_all();
    } else if (earliest_end_ <= before) {
      forget_earlier(before);
    }
  }

  /// For how long it was or will be taken, all in all.
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

  // Ascending; none touches the next. The last one, which is all that there is most often, lies here: memory
  // of its own would be one more cache miss for each message.
  std::vector<interval> earlier_;
  std::size_t forgotten_ = 0;              // so many at its beginning are no longer there
  instant earliest_end_ = instant::max();  // of those that are, to be asked without looking there
  interval last_;                          // empty, and before all times, if there is none
  duration taken_{};
};

}  // namespace chorale::simulation
