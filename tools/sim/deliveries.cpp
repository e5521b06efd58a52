// SPDX-License-Identifier: Apache-2.0
#include "deliveries.hpp"

#include <unordered_map>

namespace seeing {
namespace {

using sim::activity;
using sim::record;

bool is_of_answer(activity what) noexcept {
  return what >= activity::answer_leave;
}

/// The last records of the stages of a message before it was placed. A copy of a multicast has no other
/// record between its last two.
struct under_way {
  record leave;
  bool has_left = false;
  bool has_wire = false;
};

delivery put_together(const under_way& before, const record& place) {
  return {.number = place.message,
          .answer = is_of_answer(place.what),
          .from = place.rank,
          .to = place.peer,
          .thread = place.thread,
          .bytes = place.bytes,
          .posted = before.leave.begin,
          .leaves = before.leave.end,
          .arrives = place.begin,
          .seen = place.end};
}

}  // namespace

delivered find_deliveries(const sim::recorder& notes, const sim::window& of) {
  delivered found;
  std::unordered_map<std::uint64_t, under_way> messages;
  std::unordered_map<std::uint64_t, under_way> answers;
  for (const record& one : notes.records()) {
    if (!is_of_message(one.what)) continue;
    under_way& stages = (is_of_answer(one.what) ? answers : messages)[one.message];
    switch (one.what) {
      case activity::leave:
      case activity::answer_leave:
        stages.leave = one;
        stages.has_left = true;
        break;
      case activity::wire:
      case activity::answer_wire:
        stages.has_wire = true;
        break;
      default: {
        if (one.end <= of.begin) break;
        const bool whole =
            stages.has_left && stages.has_wire && stages.leave.begin >= of.begin && one.end <= of.end;
        const sim::instant begin = stages.has_left ? stages.leave.begin : one.begin;
        if (whole)
          found.all.push_back(put_together(stages, one));
        else if (begin < of.end && (!is_of_answer(one.what) || one.bytes != 0))
          ++found.over_the_edge;
      }
    }
  }
  return found;
}

}  // namespace seeing
