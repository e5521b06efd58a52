// SPDX-License-Identifier: Apache-2.0
// The time of an event, read lazily.
#pragma once

#include <chorale/core/clock.hpp>

namespace chorale::transport::reliable {

/// The time is either known, or read when first needed: most arrivals need no clock. The owner of a state
/// machine supplies the reader. Converts to the time. Not thread-safe.
class lazy_time {
 public:
  using reader = clock::time_point (*)() noexcept;

  lazy_time(clock::time_point known) noexcept : time_(known) {}
  explicit lazy_time(reader read) noexcept : read_(read) {}
  lazy_time(const lazy_time&) = delete;
  lazy_time& operator=(const lazy_time&) = delete;

  operator clock::time_point() const noexcept {
    if (read_ != nullptr) {
      time_ = read_();
      read_ = nullptr;
    }
    return time_;
  }

 private:
  mutable reader read_ = nullptr;
  mutable clock::time_point time_{};
};

}  // namespace chorale::transport::reliable
