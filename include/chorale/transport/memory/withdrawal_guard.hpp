// SPDX-License-Identifier: Apache-2.0
// Ends peers' access to memory of a call before an exception destroys that memory.
#pragma once

#include <exception>
#include <utility>

namespace chorale::transport {

class progress_engine;

/// Held next to memory of a call that peers or the device may be using. If an exception destroys it, such as
/// one of the algorithm itself (an operator throws, a message does not fit), the transport withdraws all
/// memory at once, since the exception may destroy that memory next. Move-only.
class withdrawal_guard {
 public:
  /// Guards nothing.
  withdrawal_guard() = default;
  explicit withdrawal_guard(progress_engine& engine) noexcept
      : engine_(&engine), exceptions_(std::uncaught_exceptions()) {}
  withdrawal_guard(withdrawal_guard&& other) noexcept
      : engine_(std::exchange(other.engine_, nullptr)), exceptions_(other.exceptions_) {}
  withdrawal_guard& operator=(withdrawal_guard&& other) noexcept {
    std::swap(engine_, other.engine_);
    std::swap(exceptions_, other.exceptions_);
    return *this;
  }
  ~withdrawal_guard() {
    if (engine_ != nullptr && std::uncaught_exceptions() != 0) [[unlikely]]
      end();
  }
  void dismiss() noexcept { engine_ = nullptr; }

 private:
  void end() const noexcept;

  progress_engine* engine_ = nullptr;
  int exceptions_ = 0;  ///< number of exceptions in flight at construction
};

}  // namespace chorale::transport
