// SPDX-License-Identifier: Apache-2.0
#include "traced.hpp"

#include <algorithm>
#include <utility>

#include "../network/network.hpp"
#include "hca.hpp"
#include "queue_pair.hpp"

namespace chorale::simulation::device {
namespace {

/// Records the two stages that end now, and tells the scheduler what has arrived.
void note_arrival(scheduler& time, traced& of, std::uint64_t bytes, instant at_adapter,
                  bool answer) noexcept {
  if (of.number == 0) return;
  note_stage(time, of, answer ? activity::answer_wire : activity::wire, bytes,
             std::min(at_adapter, time.now()));
  note_stage(time, of, answer ? activity::answer_place : activity::place, bytes, time.now());
  time.brings({.message = of.number, .answer = answer});
}

}  // namespace

int rank_behind(const hca* at, std::uint32_t queue_pair) noexcept {
  if (at == nullptr) return -1;
  const auto* const qp = at->queue_pairs.find(queue_pair);
  return qp == nullptr ? -1 : qp->rank();
}

void note_stage(scheduler& time, traced& of, activity what, std::uint64_t bytes, instant until) noexcept {
  if (of.number == 0) return;
  const instant end = std::max(until, of.since);
  time.recording()->add({.what = what,
                         .thread = of.thread,
                         .rank = of.rank,
                         .peer = of.peer,
                         .bytes = bytes,
                         .message = of.number,
                         .begin = std::exchange(of.since, end),
                         .end = end});
}

void note_delivery(scheduler& time, traced& of, std::uint64_t bytes, const arrival& when) noexcept {
  note_arrival(time, of, bytes, when.last, false);
}

void note_answer(scheduler& time, traced& of, std::uint64_t bytes, instant leaves) noexcept {
  if (of.number == 0) return;
  std::swap(of.rank, of.peer);
  of.since = std::min(of.since, leaves);
  note_stage(time, of, activity::answer_leave, bytes, leaves);
}

void note_answered(scheduler& time, traced& of, std::uint64_t bytes, const arrival& when) noexcept {
  note_arrival(time, of, bytes, when.last, true);
}

}  // namespace chorale::simulation::device
