// SPDX-License-Identifier: Apache-2.0
// Requests in coroutines of the program: `co_await comm.iallreduce(...)`.
#pragma once

#include <coroutine>
#include <type_traits>

#include <chorale/core/resumption.hpp>
#include <chorale/request.hpp>

namespace chorale {

namespace detail {

/// The awaiter of a request or a plan.
template <class Request>
class awaited_request final : private resumption {
 public:
  explicit awaited_request(Request& of) noexcept : of_(of) {}

  [[nodiscard]] bool await_ready() const noexcept { return request_access::is_over(of_); }
  void await_suspend(std::coroutine_handle<> frame) noexcept { suspend(frame); }
  auto await_resume() {
    if constexpr (requires { of_.take(); })
      return of_.take();
    else
      of_.wait();
  }

 private:
  [[nodiscard]] bool is_due() const noexcept override { return request_access::is_over(of_); }

  Request& of_;
};

}  // namespace detail

/// Suspends a coroutine of the program, of any type, until a `request`, `request_for` or `plan` is complete:
/// `co_await comm.iallreduce(chorale::in_place, data, chorale::sum);`. The coroutine is resumed by
/// `chorale::progress()` on the thread that awaits, which is the one that started the call, and by nothing
/// else: not inside other waits, so that the order of the calls of a rank does not depend on time. It does
/// not suspend if the call is complete already.
///
/// Its value is that of `take()` for a `request_for`, otherwise none. @throws error, inside the coroutine,
/// what `wait()` would throw. No deadline applies, as in all polling.
///
/// The request must outlive the await; one that is a temporary does. One coroutine at a time awaits a
/// request. A suspended coroutine may be destroyed, on its own thread: its requests end as if destroyed early
/// (see `request`). No memory is allocated. Algorithms, which are coroutines of the library, do not await
/// requests: their call fails with errc::misuse.
template <class Request>
requires detail::is_request<std::remove_reference_t<Request>&>
[[nodiscard]] auto operator co_await(Request&& of) noexcept {
  return detail::awaited_request<std::remove_reference_t<Request>>{of};
}

}  // namespace chorale
