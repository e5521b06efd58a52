// SPDX-License-Identifier: Apache-2.0
// The suspension point of a nonblocking call.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>

#include <chorale/transport/liveness/slow_wait.hpp>

namespace chorale::transport {

/// The innermost coroutine of a call, what it waits for, and the slow wait for the awaited peer.
struct parked_call {
  std::coroutine_handle<> frame;
  bool (*ready)(void*) = nullptr;
  void* awaiter = nullptr;
  int (*awaited)(void*) = nullptr;  ///< returns the peer currently waited for, if that changes
  std::optional<slow_wait> watch;
  std::exception_ptr failure;  ///< to be raised inside the coroutine

  [[nodiscard]] int awaited_peer() const { return awaited == nullptr ? watch->peer() : awaited(awaiter); }
};

}  // namespace chorale::transport
