// What ends peers' access to memory of a call that an exception is about to end.
#pragma once

#include <exception>
#include <utility>

namespace chorale::transport {

class endpoint;

/// Is kept beside memory of a call that peers or the device may be using. If an exception destroys it, one of
/// the algorithm itself (an operator throws, a message does not fit), the transport lets go of all memory at
/// once: what the exception destroys next may be that memory. Move-only.
class withdrawal_guard {
 public:
  /// Guards nothing.
  withdrawal_guard() = default;
  explicit withdrawal_guard(endpoint& net) noexcept : net_(&net), exceptions_(std::uncaught_exceptions()) {}
  withdrawal_guard(withdrawal_guard&& other) noexcept
      : net_(std::exchange(other.net_, nullptr)), exceptions_(other.exceptions_) {}
  withdrawal_guard& operator=(withdrawal_guard&& other) noexcept {
    std::swap(net_, other.net_);
    std::swap(exceptions_, other.exceptions_);
    return *this;
  }
  ~withdrawal_guard() {
    if (net_ != nullptr && std::uncaught_exceptions() != 0) [[unlikely]]
      end();
  }
  void dismiss() noexcept { net_ = nullptr; }

 private:
  void end() const noexcept;

  endpoint* net_ = nullptr;
  int exceptions_ = 0;  ///< in flight when it was made
};

}  // namespace chorale::transport
