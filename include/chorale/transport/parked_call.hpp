// Where a nonblocking call stands still.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>

#include <chorale/transport/vigil.hpp>

namespace chorale::transport {

/// The innermost coroutine of a call, what it waits for, and the watch over who it waits for.
struct parked_call {
  std::coroutine_handle<> frame;
  bool (*ready)(void*) = nullptr;
  void* awaiter = nullptr;
  int (*awaited)(void*) = nullptr;  ///< who is waited for now, where that changes
  std::optional<vigil> watch;
  std::exception_ptr failure;  ///< that is raised inside the coroutine

  [[nodiscard]] int who() const { return awaited == nullptr ? watch->peer() : awaited(awaiter); }
};

}  // namespace chorale::transport
