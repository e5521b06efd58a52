// SPDX-License-Identifier: Apache-2.0
// A buffer divided into one block per rank.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/error.hpp>

namespace chorale {

/// Bytes [offset, offset + bytes) of a buffer.
struct extent {
  std::size_t offset = 0;  ///< of the first byte
  std::size_t bytes = 0;   ///< how many
  friend constexpr bool operator==(const extent&, const extent&) = default;
};

/// Where the blocks of the ranks lie in a buffer: *even* (all of one size, contiguous) or *uneven* (each with
/// its own offset and size, possibly with gaps). Cheap to copy.
class block_layout {
 public:
  block_layout() = default;
  /// `ranks` blocks of `bytes` each.
  static block_layout even(int ranks, std::size_t bytes) {
    block_layout made;
    made.ranks_ = ranks;
    made.bytes_ = bytes;
    return made;
  }
  /// A block for each rank, in rank order, at these places.
  static block_layout uneven(std::vector<extent> places) {
    block_layout made;
    made.ranks_ = static_cast<int>(places.size());
    made.places_ = std::make_shared<const std::vector<extent>>(std::move(places));
    return made;
  }

  /// Number of blocks.
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  /// True if the layout is even by definition of the operation, so that all ranks know it.
  [[nodiscard]] bool is_even() const noexcept { return places_ == nullptr; }
  [[nodiscard]] extent operator[](int rank) const noexcept {
    const auto r = static_cast<std::size_t>(rank);
    return places_ ? (*places_)[r] : extent{r * bytes_, bytes_};
  }
  /// True if the blocks are contiguous from the first byte on, in rank order.
  [[nodiscard]] bool is_packed() const noexcept {
    if (!places_) return true;
    std::size_t end = 0;
    for (const auto& place : *places_) {
      if (place.offset != end) return false;
      end += place.bytes;
    }
    return true;
  }
  /// Bytes of all blocks in total.
  [[nodiscard]] std::size_t total() const noexcept {
    if (!places_) return static_cast<std::size_t>(ranks_) * bytes_;
    std::size_t all = 0;
    for (const auto& place : *places_) all += place.bytes;
    return all;
  }
  /// The value of `call::counts`: it differs if the size of any rank's block does.
  [[nodiscard]] std::uint64_t counts() const noexcept {
    std::uint64_t weighted = 0;
    for (int r = 0; r < ranks_; ++r) weighted += (*this)[r].bytes * weight_of(static_cast<std::uint64_t>(r));
    return weighted;
  }
  /// Offset past the last byte of any block: the required size of the buffer.
  [[nodiscard]] std::size_t end() const noexcept {
    if (!places_) return total();
    std::size_t last = 0;
    for (const auto& place : *places_)
      last = place.offset + place.bytes > last ? place.offset + place.bytes : last;
    return last;
  }
  /// Size of the largest block.
  [[nodiscard]] std::size_t largest() const noexcept {
    if (!places_) return bytes_;
    std::size_t most = 0;
    for (const auto& place : *places_) most = place.bytes > most ? place.bytes : most;
    return most;
  }

 private:
  int ranks_ = 0;
  std::size_t bytes_ = 0;
  std::shared_ptr<const std::vector<extent>> places_;
};

/// The ranks of two overlapping blocks, or {-1, -1}.
std::pair<int, int> overlapping(const std::vector<extent>& places);

/// A buffer with its layout: blocks[r] is the block of rank r. `Byte` is std::byte or const std::byte.
template <class Byte>
class blocks {
 public:
  blocks() = default;
  /// All blocks lie within `buffer`, which is not copied.
  blocks(std::span<Byte> buffer, block_layout layout) noexcept
      : buffer_(buffer), layout_(std::move(layout)) {}

  [[nodiscard]] std::span<Byte> operator[](int rank) const noexcept {
    const extent place = layout_[rank];
    return buffer_.subspan(place.offset, place.bytes);
  }
  /// Blocks [first, first + count) as one contiguous range. Precondition: the layout is packed.
  [[nodiscard]] std::span<Byte> range(int first, int count) const noexcept {
    if (layout_.is_even()) {
      const std::size_t one = layout_.largest();
      return buffer_.subspan(static_cast<std::size_t>(first) * one, static_cast<std::size_t>(count) * one);
    }
    if (count == 0) return buffer_.first(0);
    const extent last = layout_[first + count - 1];
    const std::size_t begin = layout_[first].offset;
    return buffer_.subspan(begin, last.offset + last.bytes - begin);
  }
  /// `count` blocks beginning with rank `first`, wrapping around after the last rank: the part up to the last
  /// rank, and the part from rank 0 on. Precondition: the layout is packed.
  [[nodiscard]] std::array<std::span<Byte>, 2> around(int first, int count) const noexcept {
    const int before_end = std::min(count, layout_.ranks() - first);
    return {range(first, before_end), range(0, count - before_end)};
  }
  /// The buffer with all blocks, and what lies between them.
  [[nodiscard]] std::span<Byte> buffer() const noexcept { return buffer_; }
  /// Where the blocks lie in it.
  [[nodiscard]] const block_layout& layout() const noexcept { return layout_; }

 private:
  std::span<Byte> buffer_;
  block_layout layout_;
};

}  // namespace chorale
