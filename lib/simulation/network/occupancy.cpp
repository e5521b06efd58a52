// SPDX-License-Identifier: Apache-2.0
#include "occupancy.hpp"

#include <algorithm>

namespace chorale::simulation {

instant occupancy::take(instant from, duration length) {
  if (from < last_.end) {
    earlier_.push_back(last_);
    const auto begin = take_between(from, length);
    last_ = earlier_.back();
    earlier_.pop_back();
    note_earliest();
    return begin;
  }
  if (length == duration::zero()) return from;
  taken_ += length;
  if (from == last_.end) {
    last_.end += length;
    return from;
  }
  if (last_.end != instant::min()) {
    earlier_.push_back(last_);
    note_earliest();
  }
  last_ = {from, from + length};
  return from;
}

/// Considers all intervals of `earlier_`.
instant occupancy::take_between(instant from, duration length) {
  const auto first = earlier_.begin() + static_cast<std::ptrdiff_t>(forgotten_);
  auto next = std::lower_bound(first, earlier_.end(), from,
                               [](const interval& one, instant at) { return one.end <= at; });
  auto begin = from;
  for (; next != earlier_.end() && next->begin < begin + length; ++next) begin = std::max(begin, next->end);
  // A length of zero also fits within an interval.
  if (length == duration::zero()) return begin;

  taken_ += length;
  const auto end = begin + length;
  const bool joins_before = next != first && std::prev(next)->end == begin;
  const bool joins_after = next != earlier_.end() && next->begin == end;
  if (joins_before && joins_after) {
    std::prev(next)->end = next->end;
    earlier_.erase(next);
  } else if (joins_before) {
    std::prev(next)->end = end;
  } else if (joins_after) {
    next->begin = begin;
  } else {
    earlier_.insert(next, {begin, end});
  }
  return begin;
}

void occupancy::forget_earlier(instant before) {
  while (forgotten_ < earlier_.size() && earlier_[forgotten_].end <= before) ++forgotten_;
  // Moving the rest at each call would dominate the run time when many messages wait.
  if (2 * forgotten_ >= earlier_.size()) {
    earlier_.erase(earlier_.begin(), earlier_.begin() + static_cast<std::ptrdiff_t>(forgotten_));
    forgotten_ = 0;
  }
  note_earliest();
}

}  // namespace chorale::simulation
