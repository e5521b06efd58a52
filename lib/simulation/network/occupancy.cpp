#include "occupancy.hpp"

#include <algorithm>

namespace chorale::simulation {

instant occupancy::take(instant from, duration length) {
  // Most often it is free from then on, or the newcomer is the last of a queue.
  auto next = intervals_.end();
  if (!intervals_.empty() && from < intervals_.back().end)
    next = std::lower_bound(intervals_.begin(), intervals_.end(), from,
                            [](const interval& one, instant at) { return one.end <= at; });
  auto begin = from;
  for (; next != intervals_.end() && next->begin < begin + length; ++next) begin = std::max(begin, next->end);
  // With no length, an instant within an interval is taken as well.
  if (length == duration::zero()) return begin;

  taken_ += length;
  const auto end = begin + length;
  const bool joins_before = next != intervals_.begin() && std::prev(next)->end == begin;
  const bool joins_after = next != intervals_.end() && next->begin == end;
  if (joins_before && joins_after) {
    std::prev(next)->end = next->end;
    intervals_.erase(next);
  } else if (joins_before) {
    std::prev(next)->end = end;
  } else if (joins_after) {
    next->begin = begin;
  } else {
    intervals_.insert(next, {begin, end});
  }
  return begin;
}

void occupancy::forget(instant before) {
  const auto kept = std::find_if(intervals_.begin(), intervals_.end(),
                                 [before](const interval& one) { return one.end > before; });
  intervals_.erase(intervals_.begin(), kept);
}

}  // namespace chorale::simulation
