// The awaitable of every operation of the fake.
#pragma once

#include <coroutine>
#include <exception>

#include <chorale/core/call.hpp>

#include "world.hpp"

namespace fake {

/// The result of an operation that has none.
struct nothing {
  void operator()() const noexcept {}
};

/// What `co_await` gets: ready at once if `attempt` is true, which may act and may throw; else the rank
/// stands still until it is. `result`, which may return nothing, is called once then.
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
  /// What goes wrong is thrown where the rank goes on.
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
