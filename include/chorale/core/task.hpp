// The coroutine type in which algorithms are written.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <chorale/core/frame_arena.hpp>

namespace chorale {

template <class T = void>
class task;

namespace detail {

/// The first of a coroutine's arguments that offers `frames()` lends its arena; without one the heap serves.
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
    return find_arena(rest...);
}

struct promise_base {
  std::coroutine_handle<> continuation;
  std::exception_ptr failure;

  // Inlined even without optimisation: g++ 12 would warn that `new` and `delete` do not belong together.
  template <class... Arguments>
  [[gnu::always_inline]] static inline void* operator new(std::size_t bytes, Arguments&... arguments) {
    return frame_arena::allocate(find_arena(arguments...), bytes);
  }
  static void operator delete(void* frame) noexcept { frame_arena::deallocate(frame); }

  struct resume_continuation {
    static bool await_ready() noexcept { return false; }
    template <class Promise>
    static std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
      auto next = self.promise().continuation;
      return next ? next : std::noop_coroutine();
    }
    static void await_resume() noexcept {}
  };

  static std::suspend_always initial_suspend() noexcept { return {}; }
  static resume_continuation final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { failure = std::current_exception(); }
};

template <class T>
struct promise : promise_base {
  std::optional<T> value;
  task<T> get_return_object() noexcept;
  template <class U>
  void return_value(U&& v) {
    value.emplace(std::forward<U>(v));
  }
  T take() { return std::move(*value); }
};

template <>
struct promise<void> : promise_base {
  task<void> get_return_object() noexcept;
  void return_void() noexcept {}
  void take() noexcept {}
};

}  // namespace detail

/// A lazily started coroutine: an algorithm, or a part of one. It runs when it is awaited or `resume()`d, on
/// the thread that does so. Awaiting an arrival that is there already costs no suspension; a blocking call
/// waits inside the await, a nonblocking one suspends up to its `request`. Move-only; destroying it destroys
/// a suspended frame. An exception leaves through `co_await` or `result()`.
template <class T>
class [[nodiscard]] task {
 public:
  using promise_type = detail::promise<T>;

  task() = default;
  explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  task(task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  task& operator=(task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~task() {
    if (frame_) frame_.destroy();
  }

  [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(frame_); }
  [[nodiscard]] bool done() const noexcept { return !frame_ || frame_.done(); }
  void resume() { frame_.resume(); }

  /// The result of a task that is done; throws what it threw.
  T result() {
    if (frame_.promise().failure) std::rethrow_exception(frame_.promise().failure);
    return frame_.promise().take();
  }

  auto operator co_await() && noexcept {
    struct awaiter {
      std::coroutine_handle<promise_type> frame;
      static bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
        frame.promise().continuation = caller;
        return frame;
      }
      T await_resume() {
        if (frame.promise().failure) std::rethrow_exception(frame.promise().failure);
        return frame.promise().take();
      }
    };
    return awaiter{frame_};
  }

 private:
  std::coroutine_handle<promise_type> frame_;
};

namespace detail {
template <class T>
task<T> promise<T>::get_return_object() noexcept {
  return task<T>{std::coroutine_handle<promise>::from_promise(*this)};
}
inline task<void> promise<void>::get_return_object() noexcept {
  return task<void>{std::coroutine_handle<promise>::from_promise(*this)};
}
}  // namespace detail

}  // namespace chorale
