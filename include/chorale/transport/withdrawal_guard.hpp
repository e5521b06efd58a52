// What ends peers' access to memory of a call that an exception is about to end.
#pragma once

#include <exception>
#include <utility>

namespace chorale::transport {

class progress_engine;

/// Is kept beside memory of a call that peers or the device may be using. If an exception destroys it, one of
/// the algorithm itself (an operator throws, a message does not fit), the transport lets go of all memory at
/// once: what the exception destroys next may be that memory. Move-only.
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
  int exceptions_ = 0;  ///< in flight when it was made
};

}  // namespace chorale::transport
