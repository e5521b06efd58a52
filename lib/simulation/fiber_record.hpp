// SPDX-License-Identifier: Apache-2.0
// What a recorder learns about a fiber: its work, and the ends of its waits.
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

/// An arrival that a fiber may be waiting for.
struct arrival_of {
  std::uint64_t message = 0;  ///< 0: none
  bool answer = false;        ///< to that message
};

/// The state of one fiber for its recorder. Consecutive unsuccessful polls count as one wait.
class fiber_record {
 public:
  fiber_record(int rank, std::uint16_t thread) noexcept : rank_(rank), thread_(thread) {}

  [[nodiscard]] std::uint16_t thread() const noexcept { return thread_; }

  /// The fiber works from `now` on for `time`; `what` gives the activity, the peer and the amount.
  void works(recorder& into, record what, instant now, duration time) noexcept {
    end_wait(into, now);
    // Each message needs a record of its post, even where posting costs nothing.
    if (time == duration::zero() && what.what != activity::post) return;
    what.rank = rank_;
    what.thread = thread_;
    what.begin = now;
    what.end = now + time;
    into.add(what);
  }

  /// The fiber begins to wait, or lets others run.
  void suspends() noexcept { come_ = {}; }
  /// Something has arrived for the fiber meanwhile. The last arrival counts, and a message takes precedence
  /// over an answer: a fiber that waits for both usually needs the content of the message.
  void touched(const arrival_of& by) noexcept {
    if (by.message != 0 && (!by.answer || come_.message == 0 || come_.answer)) come_ = by;
  }
  /// The fiber continues at `now`, having waited since `begin`.
  void goes_on(recorder& into, instant begin, instant now) noexcept {
    if (now == begin) return;
    if (!waits()) since_ = begin;
    if (come_.message == 0) return;
    note_wait(into, come_.answer ? activity::wait_for_answer : activity::wait_for_message, now);
  }
  /// The wait until `now` was not ended by a message.
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
  instant since_ = none;  ///< begin of the current wait
  arrival_of come_;
};

}  // namespace chorale::simulation
