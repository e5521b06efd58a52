// SPDX-License-Identifier: Apache-2.0
// Writes the lines of a trace.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// Appends texts and numbers at a place with room for them. Most of the cost of a trace is in here.
class trace_line {
 public:
  explicit trace_line(char* at) noexcept : at_(at) {}

  [[nodiscard]] char* end() const noexcept { return at_; }
  trace_line& operator<<(std::string_view text) noexcept {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
    return *this;
  }
  trace_line& operator<<(std::integral auto number) noexcept {
    at_ = std::to_chars(at_, at_ + 20, number).ptr;
    return *this;
  }
  /// Microseconds with three decimals; a negative duration, of a clock that went back, as 0.
  trace_line& operator<<(clock::duration time) noexcept {
    const auto nanoseconds = static_cast<std::uint64_t>(time.count() < 0 ? 0 : time.count());
    if (nanoseconds < 10'000)
      *this << static_cast<char>('0' + nanoseconds / 1000);
    else
      *this << nanoseconds / 1000;
    *this << '.';
    return three(nanoseconds % 1000);
  }
  trace_line& operator<<(char one) noexcept {
    *at_++ = one;
    return *this;
  }
  /// Three digits.
  trace_line& three(std::uint64_t number) noexcept {
    at_[0] = static_cast<char>('0' + number / 100);
    at_[1] = static_cast<char>('0' + number / 10 % 10);
    at_[2] = static_cast<char>('0' + number % 10);
    at_ += 3;
    return *this;
  }

 private:
  char* at_;
};

/// Writes times. Keeps the leading digits, down to milliseconds, which rarely change between two times.
class trace_times {
 public:
  void write(trace_line& to, clock::time_point time) noexcept {
    const auto nanoseconds = static_cast<std::uint64_t>(time.time_since_epoch().count());
    const std::uint64_t since = nanoseconds - from_;
    if (since >= 1'000'000 || size_ == 0) [[unlikely]]
      return write_anew(to, nanoseconds);
    (to << std::string_view{digits_, size_}).three(since / 1000) << '.';
    to.three(since % 1000);
  }

 private:
  void write_anew(trace_line& to, std::uint64_t nanoseconds) noexcept {
    to << clock::duration{static_cast<clock::rep>(nanoseconds)};
    const std::uint64_t milliseconds = nanoseconds / 1'000'000;
    if (milliseconds == 0) return;  // no leading digits, and JSON has no leading zeroes
    from_ = milliseconds * 1'000'000;
    size_ = static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof digits_, milliseconds).ptr -
                                     digits_);
  }

  std::uint64_t from_ = 0;  ///< times from here on, for a millisecond, begin with `digits_`
  char digits_[20] = {};
  std::size_t size_ = 0;
};

}  // namespace chorale::transport
