// SPDX-License-Identifier: Apache-2.0
// The coroutine type of algorithms.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <chorale/core/error.hpp>
#include <chorale/core/frame_arena.hpp>

namespace chorale {

template <class Result = void>
class task;

namespace detail {

/// The first argument of a coroutine that has `frames()` provides the arena; without one the heap is used.
inline frame_arena* find_arena() noexcept {
  return nullptr;
}
template <class First, class... Rest>
frame_arena* find_arena(First& first, Rest&... rest) noexcept {
  if constexpr (requires {
                  { first.frames() } -> std::same_as<frame_arena&>;
                })
    return &first.frames();
  else
    return detail::find_arena(rest...);
}

struct promise_base {
  /// The suspended coroutine that awaits this one; none while this one runs inside the await.
  std::coroutine_handle<> continuation;
  std::exception_ptr failure;

  // Inlined even without optimization: otherwise g++ 12 warns that `new` and `delete` do not match.
  template <class... Arguments>
  [[gnu::always_inline]] static inline void* operator new(std::size_t bytes, Arguments&... arguments) {
    return frame_arena::allocate(detail::find_arena(arguments...), bytes);
  }
  static void operator delete(void* frame) noexcept { frame_arena::deallocate(frame); }

  /// Resumes the coroutine that the await suspended. The stack grows with the depth of suspended awaits,
  /// never with their number.
  struct resume_continuation {
    static bool await_ready() noexcept { return false; }
    template <class Promise>
    static void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      if (const auto next = self.promise().continuation) next.resume();
    }
    static void await_resume() noexcept {}
  };

  static std::suspend_always initial_suspend() noexcept { return {}; }
  static resume_continuation final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { failure = std::current_exception(); }
};

template <class Result>
struct promise : promise_base {
  std::optional<Result> value;
  task<Result> get_return_object() noexcept;
  template <class Value>
  void return_value(Value&& v) {
    value.emplace(std::forward<Value>(v));
  }
  Result take() { return std::move(*value); }
};

template <>
struct promise<void> : promise_base {
  task<void> get_return_object() noexcept;
  void return_void() noexcept {}
  void take() noexcept {}
};

}  // namespace detail

/// A lazily started coroutine: an algorithm, or a part of one. It runs when it is awaited or resumed, on the
/// thread that does so. An await runs it like an ordinary call, so that consecutive awaits need neither stack
/// nor tail calls, and suspends only if it does not complete. A blocking call waits inside the innermost
/// await; a nonblocking one suspends there, together with all coroutines that await it. Move-only. An
/// exception leaves through `co_await` or `result()`.
///
/// Destroying a task destroys its frame. If the coroutine has not completed, no coroutine awaits it and no
/// exception is in flight, a `co_await` was forgotten: the frame's arena records this, and the call fails
/// with errc::misuse.
template <class Result>
class [[nodiscard]] task {
 public:
  using promise_type = detail::promise<Result>;  ///< For the compiler.

  task() = default;
  explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}  ///< Owns the frame.
  task(task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  task& operator=(task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~task() {
    if (!frame_) return;
    if (!frame_.done()) [[unlikely]]
      note_if_forgotten();
    frame_.destroy();
  }

  /// Whether it has a coroutine.
  [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(frame_); }
  /// Whether the coroutine has completed, or there is none.
  [[nodiscard]] bool done() const noexcept { return !frame_ || frame_.done(); }
  void resume() { frame_.resume(); }  ///< Continues where it is suspended.
  /// Destroys the frame wherever it is suspended, to abandon the rest of the coroutine on purpose.
  void discard() noexcept {
    if (frame_) std::exchange(frame_, {}).destroy();
  }

  /// The result of a completed task; rethrows its exception. @throws error errc::misuse if it has not
  /// completed.
  [[gnu::always_inline]] Result result() {
    if (!frame_.done()) [[unlikely]]
      throw_not_done();
    if (frame_.promise().failure) std::rethrow_exception(frame_.promise().failure);
    return frame_.promise().take();
  }

  /// Runs it inside the awaiting coroutine, which gets its result or exception.
  auto operator co_await() && noexcept {
    struct awaiter {
      std::coroutine_handle<promise_type> frame;
      bool await_ready() noexcept {
        frame.resume();
        return frame.done();
      }
      void await_suspend(std::coroutine_handle<> caller) noexcept { frame.promise().continuation = caller; }
      Result await_resume() {
        if (frame.promise().failure) std::rethrow_exception(frame.promise().failure);
        return frame.promise().take();
      }
    };
    return awaiter{frame_};
  }

 private:
  [[gnu::cold, gnu::noinline]] void note_if_forgotten() noexcept {
    if (!frame_.promise().continuation && std::uncaught_exceptions() == 0)
      frame_arena::note_forgotten(frame_.address());
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void throw_not_done() {
    throw error(
        errc::misuse,
        "a blocking call was suspended by something that is no operation of its transport: an algorithm "
        "may await operations of the transport and tasks, nothing else");
  }

  std::coroutine_handle<promise_type> frame_;
};

namespace detail {
template <class Result>
task<Result> promise<Result>::get_return_object() noexcept {
  return task<Result>{std::coroutine_handle<promise>::from_promise(*this)};
}
inline task<void> promise<void>::get_return_object() noexcept {
  return task<void>{std::coroutine_handle<promise>::from_promise(*this)};
}
}  // namespace detail

}  // namespace chorale
