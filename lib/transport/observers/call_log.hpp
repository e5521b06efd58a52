// SPDX-License-Identifier: Apache-2.0
// The log of one communicator.
#pragma once

#include <cstdint>
#include <string_view>

#include <chorale/core/config.hpp>
#include <chorale/transport/observers/observer.hpp>

namespace chorale::transport {

/// Writes lines to standard error immediately, each with the time of `clock` and the rank.
class call_log final : public observer {
 public:
  /// Precondition: `level` is not off.
  explicit call_log(log_level level) noexcept;

  void on_made(const observed_communicator& who) noexcept override;
  void on_ended(const observed_communicator& who) noexcept override;
  void on_begin(const observed_call& call) noexcept override;
  void on_wait(const observed_wait& wait) noexcept override;
  void on_end(const observed_call& call) noexcept override;
  void on_event(const observed_event& event) noexcept override;
  [[nodiscard]] bool wants_all() const noexcept override { return is_debug_; }
  void on_passed(const observed_call& last, std::uint64_t calls) noexcept override;

 private:
  void say(const observed_communicator& who, std::string_view text) const noexcept;

  bool is_debug_;
  std::int64_t process_;  ///< a child of fork() writes nothing
  std::uint64_t calls_ = 0;
  std::uint64_t failures_ = 0;
};

}  // namespace chorale::transport
