// What is refused of the arguments of a call, on this rank and before anything is sent.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <chorale/calls/operand.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/call.hpp>

namespace chorale::calls {

/// The checks that calls share. Each throws errc::invalid_argument, with the name of the communicator, the
/// call, the rank, and what is wrong. Sizes and offsets in bytes, `one` those of an element.
class argument_checks {
 public:
  /// `label`: what the communicator is called, empty if nothing; outlives this.
  argument_checks(int rank, int size, const std::string& label) noexcept
      : rank_(rank), size_(size), label_(&label) {}

  void check_root(operation what, int root) const {
    if (root < 0 || root >= size_) [[unlikely]]
      reject_root(what, root);
  }
  /// Refuses some elements at no address.
  void check_memory(operation what, const input& in) const {
    if (in.bytes.data() == nullptr && !in.bytes.empty()) [[unlikely]]
      reject_null(what, in.bytes.size() / in.one);
  }
  void check_memory(operation what, const output& out) const {
    if (out.bytes.data() == nullptr && !out.bytes.empty()) [[unlikely]]
      reject_null(what, out.bytes.size() / out.one);
  }
  /// Refuses `given` bytes where there have to be `needed`.
  void check_sizes(operation what, std::size_t needed, std::size_t given, std::size_t one) const {
    if (given != needed) [[unlikely]]
      reject_size(what, needed / one, 1, given / one);
  }
  /// The same where a block of `block` bytes is needed for each rank, which may be more than can be counted.
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
  /// The same of buffers that may be one and the same: then true.
  bool check_same_or_apart(operation what, std::span<const std::byte> in,
                           std::span<const std::byte> out) const {
    if (in.data() == out.data() && in.size() == out.size()) return true;
    check_apart(what, in, out);
    return false;
  }
  /// The uneven layout of blocks of `sizes` elements for each rank, at `displacements` or, if there are none,
  /// one behind the other, in a buffer of `room` bytes. Blocks that are `written` are apart.
  [[nodiscard]] block_layout uneven_layout(operation call, std::span<const std::size_t> sizes,
                                           std::span<const std::size_t> displacements, std::size_t room,
                                           std::size_t one, bool written) const;
  [[noreturn]] void reject(const char* what, const std::string& why) const;

 private:
  [[noreturn]] void reject_root(operation what, int root) const;
  [[noreturn]] void reject_null(operation what, std::size_t elements) const;
  [[noreturn]] void reject_size(operation what, std::size_t block, std::size_t blocks,
                                std::size_t given) const;
  [[noreturn]] void reject_overlap(operation what, std::span<const std::byte> in,
                                   std::span<const std::byte> out) const;

  int rank_;
  int size_;
  const std::string* label_;
};

}  // namespace chorale::calls
