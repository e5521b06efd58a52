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
  void forget(instant before);

  /// For how long it was or will be taken, all in all.
  [[nodiscard]] duration taken() const noexcept { return taken_; }

 private:
  struct interval {
    instant begin;
    instant end;
  };

  std::vector<interval> intervals_;  // ascending; none touches the next
  duration taken_{};
};

}  // namespace chorale::simulation
