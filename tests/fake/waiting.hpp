// SPDX-License-Identifier: Apache-2.0
// The awaitable of all operations of the fake.
#pragma once

#include <coroutine>
#include <exception>

#include <chorale/core/call.hpp>

#include "world.hpp"

namespace fake {

/// The `Result` of an operation without a result.
struct nothing {
  void operator()() const noexcept {}
};

/// An awaitable that is ready when `attempt` returns true; `attempt` may have effects and may throw. Until
/// then the rank is suspended. Then `result` is called once, and returns the operation's result, if any.
template <class Attempt, class Result>
class [[nodiscard]] waiting {
 public:
  waiting(world& in, int rank, const char* operation, int peer, chorale::call_id now, Attempt attempt,
          Result result)
      : in_(in),
        rank_(rank),
        where_{.operation = operation, .peer = peer, .now = now},
        attempt_(attempt),
        result_(result) {
    in_.frames(rank_).note_made();
  }
  waiting(const waiting&) = delete;
  waiting& operator=(const waiting&) = delete;

  bool await_ready() {
    in_.frames(rank_).note_awaited();
    return !in_.hesitates() && is_ready();
  }
  void await_suspend(std::coroutine_handle<> frame) {
    where_.frame = frame;
    where_.is_ready = [](void* self) { return static_cast<waiting*>(self)->is_ready(); };
    where_.awaiter = this;
    in_.stand_still(rank_, where_);
  }
  auto await_resume() {
    if (failure_) std::rethrow_exception(failure_);
    return result_();
  }

 private:
  /// An exception is kept, and thrown when the rank resumes.
  bool is_ready() {
    try {
      return attempt_();
    } catch (...) {
      failure_ = std::current_exception();
      return true;
    }
  }

  world& in_;
  int rank_;
  standstill where_;
  Attempt attempt_;
  Result result_;
  std::exception_ptr failure_;
};

}  // namespace fake
