// SPDX-License-Identifier: Apache-2.0
// Checks of a call's arguments, made locally before anything is sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <chorale/calls/operand.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/call.hpp>

namespace chorale::calls {

/// The checks that calls share. Each throws errc::invalid_argument, naming the communicator, the call, the
/// rank and the fault. Sizes and offsets are in bytes; `one` is the size of an element.
class argument_checks {
 public:
  /// `label`: the name of the communicator, or empty; it must outlive this object. `looks`: whether the
  /// memory of operands is examined (`check_policy::buffers`).
  argument_checks(int rank, int size, const std::string& label, bool looks) noexcept
      : rank_(rank), size_(size), label_(&label), examined_up_to_(looks ? UINTPTR_MAX : 0) {}

  void check_root(operation what, int root) const {
    if (root < 0 || root >= size_) [[unlikely]]
      reject_root(what, root);
  }
  /// Refuses a null pointer unless the buffer is empty, and, if memory is examined, what this process cannot
  /// read or write. One comparison for both.
  void check_memory(operation what, const input& in) const {
    if (is_examined(in.bytes.data()) && !in.bytes.empty()) [[unlikely]]
      examine(what, in.bytes, in.one, false);
  }
  void check_memory(operation what, const output& out) const {
    if (is_examined(out.bytes.data()) && !out.bytes.empty()) [[unlikely]]
      examine(what, out.bytes, out.one, true);
  }
  /// Whether memory is examined.
  [[nodiscard]] bool looks() const noexcept { return examined_up_to_ != 0; }
  /// Refuses `given` bytes unless they equal `needed`.
  void check_sizes(operation what, std::size_t needed, std::size_t given, std::size_t one) const {
    if (given != needed) [[unlikely]]
      reject_size(what, needed / one, 1, given / one);
  }
  /// Refuses `given` bytes unless they are one block of `block` bytes per rank; detects overflow of this
  /// product.
  void check_blocks(operation what, std::size_t block, std::size_t given, std::size_t one) const {
    std::size_t needed = 0;
    if (__builtin_mul_overflow(block, static_cast<std::size_t>(size_), &needed) || given != needed)
        [[unlikely]]
      reject_size(what, block / one, static_cast<std::size_t>(size_), given / one);
  }
  /// Refuses buffers that overlap.
  void check_apart(operation what, std::span<const std::byte> in, std::span<const std::byte> out) const {
    if (in.data() < out.data() + out.size() && out.data() < in.data() + in.size() && !in.empty() &&
        !out.empty()) [[unlikely]]
      reject_overlap(what, in, out);
  }
  /// Refuses buffers that overlap, unless they are the same buffer. @returns whether they are.
  bool check_same_or_apart(operation what, std::span<const std::byte> in,
                           std::span<const std::byte> out) const {
    if (in.data() == out.data() && in.size() == out.size()) return true;
    check_apart(what, in, out);
    return false;
  }
  /// The layout of one block of `sizes` elements per rank, at `displacements` or, if these are empty, one
  /// after the other, in a buffer of `room` bytes. Blocks that are `written` must not overlap.
  [[nodiscard]] block_layout uneven_layout(operation call, std::span<const std::size_t> sizes,
                                           std::span<const std::size_t> displacements, std::size_t room,
                                           std::size_t one, bool written) const;
  [[noreturn]] void reject(const char* what, const std::string& why) const;

 private:
  [[noreturn]] void reject_root(operation what, int root) const;
  [[nodiscard]] bool is_examined(const std::byte* memory) const noexcept {
    return reinterpret_cast<std::uintptr_t>(memory) <= examined_up_to_;
  }
  void examine(operation what, std::span<const std::byte> memory, std::size_t one, bool is_written) const;
  [[noreturn]] void reject_size(operation what, std::size_t block, std::size_t blocks,
                                std::size_t given) const;
  [[noreturn]] void reject_overlap(operation what, std::span<const std::byte> in,
                                   std::span<const std::byte> out) const;

  int rank_;
  int size_;
  const std::string* label_;
  std::uintptr_t examined_up_to_;  ///< buffers up to this address are examined: only null, or all
};

}  // namespace chorale::calls
