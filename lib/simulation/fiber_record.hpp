// What a recorder is told of a fiber: its work, and what ended its waits.
#pragma once

#include <cstdint>
#include <limits>

#include <chorale/core/clock.hpp>
#include <chorale/simulation/recorder.hpp>

namespace chorale::simulation {

constexpr activity activity_of(host_work what) noexcept {
  switch (what) {
    case host_work::call:
      return activity::call;
    case host_work::copy:
    case host_work::own:
      return activity::copy;
    case host_work::combine:
      return activity::combine;
    case host_work::send:
      return activity::send;
    case host_work::match:
      return activity::match;
    case host_work::receive:
      break;
  }
  return activity::receive;
}

/// What has come that a fiber may wait for.
struct arrival_of {
  std::uint64_t message = 0;  ///< 0: none
  bool answer = false;        ///< to that message
};

/// The notes on one fiber. A wait in which it looks again and again in vain is one wait.
class fiber_record {
 public:
  fiber_record(int rank, std::uint16_t thread) noexcept : rank_(rank), thread_(thread) {}

  [[nodiscard]] std::uint16_t thread() const noexcept { return thread_; }

  /// It works from `now` on for so long; `what` says at what, with whom, and with how much.
  void works(recorder& into, record what, instant now, duration time) noexcept {
    end_wait(into, now);
    // A message must have the post that it came from, even where that costs nothing.
    if (time == duration::zero() && what.what != activity::post) return;
    what.rank = rank_;
    what.thread = thread_;
    what.begin = now;
    what.end = now + time;
    into.add(what);
  }

  /// It begins to wait, or to let others run.
  void suspends() noexcept { come_ = {}; }
  /// Something has come for it meanwhile. Of several the last counts, and a message more than an answer: who
  /// waits for both mostly waits for what the message brings.
  void touched(const arrival_of& by) noexcept {
    if (by.message != 0 && (!by.answer || come_.message == 0 || come_.answer)) come_ = by;
  }
  /// It goes on at `now`, having waited since `begin`.
  void goes_on(recorder& into, instant begin, instant now) noexcept {
    if (now == begin) return;
    if (!waits()) since_ = begin;
    if (come_.message == 0) return;
    note_wait(into, come_.answer ? activity::wait_for_answer : activity::wait_for_message, now);
  }
  /// What it waited for until `now` was no message.
  void end_wait(recorder& into, instant now) noexcept {
    if (waits()) note_wait(into, activity::wait, now);
  }

 private:
  static constexpr instant none{duration{std::numeric_limits<std::int64_t>::min()}};

  [[nodiscard]] bool waits() const noexcept { return since_ != none; }
  void note_wait(recorder& into, activity what, instant now) noexcept {
    into.add({.what = what,
              .thread = thread_,
              .rank = rank_,
              .message = what == activity::wait ? 0 : come_.message,
              .begin = since_,
              .end = now});
    since_ = none;
    come_ = {};
  }

  int rank_;
  std::uint16_t thread_;
  instant since_ = none;  ///< of the wait that it is in
  arrival_of come_;
};

}  // namespace chorale::simulation
