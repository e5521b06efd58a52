// SPDX-License-Identifier: Apache-2.0
// The awaitable of every operation.
#pragma once

#include <coroutine>
#include <exception>

#include "world.hpp"

namespace chorale::simulation::ghosts {

/// The operation in which a rank waits.
struct standstill {
  const char* operation = "";
  int peer = -1;
  bool settles = false;  ///< as in `world::may_act`
};

/// The awaitable: `attempt()` is called when everything that the rank must know of has happened, and again in
/// each later turn that the world gives the rank, until it returns true. Then `result()` is called once.
template <class Attempt, class Result>
class [[nodiscard]] waiting {
 public:
  waiting(world& in, int rank, standstill& where, standstill what, Attempt attempt, Result result)
      : in_(in), rank_(rank), where_(where), what_(what), attempt_(attempt), result_(result) {
    in_.frames(rank_).note_made();
  }
  waiting(const waiting&) = delete;
  waiting& operator=(const waiting&) = delete;

  bool await_ready() {
    in_.frames(rank_).note_awaited();
    return in_.may_act(rank_, {&waiting::go_on, this}, what_.settles) && is_over();
  }
  void await_suspend(std::coroutine_handle<> frame) {
    where_ = what_;
    frame_ = frame;
  }
  auto await_resume() {
    if (failure_) std::rethrow_exception(failure_);
    return result_();
  }

 private:
  bool is_over() {
    try {
      return attempt_();
    } catch (...) {
      failure_ = std::current_exception();
      return true;
    }
  }
  static void go_on(void* self) {
    auto& me = *static_cast<waiting*>(self);
    if (me.is_over()) me.frame_.resume();
  }

  world& in_;
  int rank_;
  standstill& where_;
  standstill what_;
  Attempt attempt_;
  Result result_;
  std::coroutine_handle<> frame_;
  std::exception_ptr failure_;
};

}  // namespace chorale::simulation::ghosts
