// SPDX-License-Identifier: Apache-2.0
// A buffer at any offset from alignment, with guards around it.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../mapped_file.hpp"

namespace collectives {

/// The error found by a check.
struct wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `count` elements of T that begin `misalignment` bytes past a 64-byte boundary. Elements are read and
/// written as bytes, so T need not be aligned. `check_guards()` detects writes up to 128 bytes outside.
/// May be a file (`support::files_for_buffers`). Whole buffers are compared by functions of the C library,
/// since the loops of tests are not optimised.
template <class T>
class guarded_buffer {
 public:
  explicit guarded_buffer(std::size_t count, std::size_t misalignment = 0)
      : count_(count),
        room_(guard + 64 + misalignment % 64 + count * sizeof(T) + guard),
        storage_(support::make_buffer(room_)) {
    std::memset(storage_.get(), static_cast<int>(fill), room_);
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.get()) + guard;
    first_ = guard + (64 - address % 64) % 64 + misalignment % 64;
  }

  [[nodiscard]] std::span<T> span() noexcept { return {reinterpret_cast<T*>(place(0)), count_}; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] T get(std::size_t i) const {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), place(i), sizeof(T));
    return std::bit_cast<T>(bytes);
  }
  void set(std::size_t i, const T& value) { std::memcpy(place(i), &value, sizeof(T)); }
  template <class Value>
  void fill_with(Value&& value) {
    for (std::size_t i = 0; i < count_; ++i) set(i, value(i));
  }
  void set_all(const std::vector<T>& values) {
    if constexpr (std::same_as<T, bool>)
      fill_with([&](std::size_t i) { return values[i]; });
    else if (count_ != 0)
      std::memcpy(place(0), values.data(), count_ * sizeof(T));
  }

  /// @throws wrong naming `what` and the first element that is not `value(i)`, or a write outside.
  template <class Value>
  requires std::invocable<Value, std::size_t> void check(const std::string& what, Value&& value) const {
    for (std::size_t i = 0; i < count_; ++i) {
      const T wanted = value(i);
      // Elements that are equal may differ in bytes: zeros, and padding.
      if (std::memcmp(place(i), &wanted, sizeof(T)) != 0 && !(get(i) == wanted))
        throw wrong(what + ": element " + std::to_string(i) + " of " + std::to_string(count_) + " is wrong");
    }
    check_guards(what);
  }
  void check(const std::string& what, const std::vector<T>& values) const {
    if constexpr (!std::same_as<T, bool>)
      if (count_ != 0 && std::memcmp(place(0), values.data(), count_ * sizeof(T)) == 0)
        return check_guards(what);
    check(what, [&](std::size_t i) { return values[i]; });
  }
  void check_untouched(const std::string& what) const {
    if (!is_untouched(0, room_)) throw wrong(what + ": a buffer that is not to be touched was written");
  }
  void check_guards(const std::string& what) const {
    const std::size_t end = first_ + count_ * sizeof(T);
    if (!is_untouched(0, first_)) throw wrong(what + ": written before the buffer");
    if (!is_untouched(end, room_)) throw wrong(what + ": written behind the buffer");
  }

 private:
  static constexpr std::size_t guard = 128;
  static constexpr std::byte fill{0xa5};

  [[nodiscard]] std::byte* place(std::size_t i) noexcept { return storage_.get() + first_ + i * sizeof(T); }
  [[nodiscard]] const std::byte* place(std::size_t i) const noexcept {
    return storage_.get() + first_ + i * sizeof(T);
  }
  /// Whether the bytes of that part, which is not empty, are all as they were made.
  [[nodiscard]] bool is_untouched(std::size_t begin, std::size_t end) const noexcept {
    const std::byte* const part = storage_.get() + begin;
    return *part == fill && std::memcmp(part, part + 1, end - begin - 1) == 0;
  }

  std::size_t count_;
  std::size_t room_;
  support::buffer storage_;
  std::size_t first_ = 0;
};

}  // namespace collectives
