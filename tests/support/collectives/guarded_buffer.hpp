// A buffer at any offset from alignment, with guards around it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
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
/// May be a file (`support::files_for_buffers`).
template <class T>
class guarded_buffer {
 public:
  explicit guarded_buffer(std::size_t count, std::size_t misalignment = 0)
      : count_(count), storage_(guard + 64 + misalignment % 64 + count * sizeof(T) + guard, fill) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data()) + guard;
    first_ = guard + (64 - address % 64) % 64 + misalignment % 64;
  }

  [[nodiscard]] std::span<T> span() noexcept {
    return {reinterpret_cast<T*>(storage_.data() + first_), count_};
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] T get(std::size_t i) const {
    if constexpr (std::same_as<T, std::byte>) return storage_[first_ + i];
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), storage_.data() + first_ + i * sizeof(T), sizeof(T));
    return std::bit_cast<T>(bytes);
  }
  void set(std::size_t i, const T& value) {
    std::memcpy(storage_.data() + first_ + i * sizeof(T), &value, sizeof(T));
  }
  template <class Value>
  void fill_with(Value&& value) {
    for (std::size_t i = 0; i < count_; ++i) set(i, value(i));
  }
  void set_all(const std::vector<T>& values) {
    fill_with([&](std::size_t i) { return values[i]; });
  }

  /// @throws wrong naming `what` and the first element that is not `value(i)`, or a write outside.
  template <class Value>
  requires std::invocable<Value, std::size_t> void check(const std::string& what, Value&& value) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (!(get(i) == value(i)))
        throw wrong(what + ": element " + std::to_string(i) + " of " + std::to_string(count_) + " is wrong");
    }
    check_guards(what);
  }
  void check(const std::string& what, const std::vector<T>& values) const {
    check(what, [&](std::size_t i) { return values[i]; });
  }
  void check_untouched(const std::string& what) const {
    if (std::any_of(storage_.begin(), storage_.end(), [](std::byte b) { return b != fill; }))
      throw wrong(what + ": a buffer that is not to be touched was written");
  }
  void check_guards(const std::string& what) const {
    const auto written = [](std::byte b) { return b != fill; };
    const auto first = storage_.begin() + static_cast<std::ptrdiff_t>(first_);
    const auto end = first + static_cast<std::ptrdiff_t>(count_ * sizeof(T));
    if (const auto at = std::find_if(storage_.begin(), first, written); at != first)
      throw wrong(what + ": written " + std::to_string(first - at) + " bytes before the buffer");
    if (const auto at = std::find_if(end, storage_.end(), written); at != storage_.end())
      throw wrong(what + ": written " + std::to_string(at - end) + " bytes behind the buffer");
  }

 private:
  static constexpr std::size_t guard = 128;
  static constexpr std::byte fill{0xa5};
  std::size_t count_;
  std::vector<std::byte, support::buffer_allocator<std::byte>> storage_;
  std::size_t first_;
};

}  // namespace collectives
