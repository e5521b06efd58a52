// SPDX-License-Identifier: Apache-2.0
// The blocks of all ranks in the order of places.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/places.hpp>

namespace chorale {

/// The layout of buffers that contain the blocks of all ranks without gaps, ordered by place. `each`: the
/// layout of the caller's buffer.
class place_blocks {
 public:
  /// `where` must outlive the object.
  place_blocks(const places& where, const block_layout& each) : where_(&where), each_(each) {}

  /// Whether the caller's buffer has this layout already.
  [[nodiscard]] bool are_straight() const noexcept { return where_->are_contiguous() && each_.is_packed(); }
  /// Bytes of all blocks.
  [[nodiscard]] std::size_t total() const noexcept { return each_.total(); }
  /// Bytes of the blocks of a place.
  [[nodiscard]] std::size_t bytes_of(int place) const noexcept {
    std::size_t all = 0;
    for (const int rank : where_->members(place)) all += each_[rank].bytes;
    return all;
  }
  /// One block for each place.
  [[nodiscard]] block_layout of_places() const {
    const int count = where_->count();
    if (each_.is_even() && where_->are_equal()) return block_layout::even(count, bytes_of(0));
    return packed(count, [this](int place) { return bytes_of(place); });
  }
  /// The blocks of the ranks of a place.
  [[nodiscard]] block_layout within(int place) const {
    const auto members = where_->members(place);
    const auto count = static_cast<int>(members.size());
    if (each_.is_even()) return block_layout::even(count, each_.largest());
    return packed(count, [&](int i) { return each_[members[static_cast<std::size_t>(i)]].bytes; });
  }
  /// Copies the blocks of all ranks from a buffer ordered by place to the caller's buffer.
  void unpack(std::span<const std::byte> from, const blocks<std::byte>& to) const noexcept {
    pair_all(to, from, [](auto block, auto place) { chorale::move_bytes(block, place); });
  }
  /// Copies them from the caller's buffer to one ordered by place.
  void pack(const blocks<const std::byte>& from, std::span<std::byte> to) const noexcept {
    pair_all(from, to, [](auto block, auto place) { chorale::move_bytes(place, block); });
  }

 private:
  template <class Bytes>
  static block_layout packed(int count, Bytes bytes) {
    std::vector<extent> all;
    std::size_t end = 0;
    for (int i = 0; i < count; ++i) {
      all.push_back({end, bytes(i)});
      end += all.back().bytes;
    }
    return block_layout::uneven(std::move(all));
  }
  /// Calls `pair` with each block of the caller's buffer and its bytes in the buffer ordered by place.
  template <class Blocks, class Buffer, class Pair>
  void pair_all(const Blocks& apart, Buffer straight, Pair pair) const noexcept {
    for (const int rank : where_->order()) {
      const auto block = apart[rank];
      pair(block, straight.first(block.size()));
      straight = straight.subspan(block.size());
    }
  }

  const places* where_;
  block_layout each_;
};

}  // namespace chorale
