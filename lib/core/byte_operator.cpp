// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/byte_operator.hpp>
#include <chorale/core/elements.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/operator_tag.hpp>
#include <chorale/core/reduction.hpp>

namespace chorale {

struct byte_operator::state {
  state(std::string_view given, std::function<byte_function> function_, bool commutes_)
      : name(given), function(std::move(function_)), commutes(commutes_) {}

  std::string name;
  std::function<byte_function> function;
  bool commutes;
  detail::operator_entry entry{detail::tag_of_name(name), name, true};
};

byte_operator::byte_operator(std::string_view name, std::function<byte_function> function, bool commutes) {
  if (name.empty())
    throw error(errc::invalid_argument,
                "byte_operator: the name is empty; ranks compare operators by their names");
  if (!function)
    throw error(errc::invalid_argument, fmt::format("byte_operator '{}': the function is empty", name));
  state_ = std::make_shared<const state>(name, std::move(function), commutes);
}

void byte_operator::operator()(const std::byte* left, std::byte* inout_right, std::size_t count) const {
  state_->function(left, inout_right, count);
}

std::uint32_t byte_operator::tag() const noexcept {
  return detail::tag_of_name(state_->name);
}

const std::string& byte_operator::name() const noexcept {
  return state_->name;
}

bool byte_operator::commutes() const noexcept {
  return state_->commutes;
}

namespace {

/// Memory with maximum alignment; small sizes need no allocation.
class workspace {
 public:
  explicit workspace(std::size_t bytes) {
    if (bytes > sizeof small_)
      large_ = std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1);
  }
  [[nodiscard]] std::byte* data() noexcept {
    return large_ ? reinterpret_cast<std::byte*>(large_.get()) : small_;
  }

 private:
  alignas(std::max_align_t) std::byte small_[2048];
  std::unique_ptr<std::max_align_t[]> large_;
};

/// A byte operator with what the loops need to know about its elements.
class byte_loops {
 public:
  byte_loops(byte_operator op, std::size_t size)
      : op_(std::move(op)),
        size_(size),
        // The alignment of a type divides its size, so this is an upper bound for types of this size, except
        // for over-aligned ones.
        alignment_(std::min(size & (~size + 1), alignof(std::max_align_t))) {}

  void right(const std::byte* left, std::byte* mine, std::size_t n) const {
    if (n == 0) return;
    const bool move_left = !is_aligned(left), move_mine = !is_aligned(mine);
    if (!move_left && !move_mine) return op_(left, mine, n);
    const std::size_t most = stretch();
    workspace l(move_left ? most * size_ : 0), m(move_mine ? most * size_ : 0);
    for (std::size_t done = 0; done < n; done += most) {
      const std::size_t count = std::min(most, n - done), at = done * size_;
      if (move_left) std::memcpy(l.data(), left + at, count * size_);
      if (move_mine) std::memcpy(m.data(), mine + at, count * size_);
      op_(move_left ? l.data() : left + at, move_mine ? m.data() : mine + at, count);
      if (move_mine) std::memcpy(mine + at, m.data(), count * size_);
    }
  }

  void left(std::byte* mine, const std::byte* right_operand, std::size_t n) const {
    if (op_.commutes()) return right(right_operand, mine, n);
    // The function writes only to its right operand.
    const std::size_t most = stretch();
    workspace temporary(most * size_);
    for (std::size_t done = 0; done < n; done += most) {
      const std::size_t count = std::min(most, n - done), at = done * size_;
      std::memcpy(temporary.data(), right_operand + at, count * size_);
      right(mine + at, temporary.data(), count);
      std::memcpy(mine + at, temporary.data(), count * size_);
    }
  }

 private:
  [[nodiscard]] bool is_aligned(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) % alignment_ == 0;
  }
  /// Number of elements combined per step if they are copied.
  [[nodiscard]] std::size_t stretch() const noexcept { return std::max<std::size_t>(1, 2048 / size_); }

  byte_operator op_;
  std::size_t size_;
  std::size_t alignment_;
};

}  // namespace

reduction reduction::of_bytes(byte_operator op, std::size_t size) {
  detail::check_elements(0, size);
  struct held {
    table how;
    byte_loops loops;
  };
  const table how{
      size, op.commutes(), false,
      [](const void* self, const std::byte* left, const std::byte* right, std::byte* out, std::size_t bytes) {
        const auto& all = *static_cast<const held*>(self);
        if (out == right)
          all.loops.right(left, out, bytes / all.how.element_bytes);
        else
          all.loops.left(out, right, bytes / all.how.element_bytes);
      }};
  const auto all = std::make_shared<const held>(held{how, byte_loops{std::move(op), size}});
  reduction made;
  made.table_ = &all->how;
  made.large_ = all;
  return made;
}

}  // namespace chorale
