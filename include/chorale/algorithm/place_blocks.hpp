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

/// The layout of buffers in which the blocks of all ranks lie behind each other, place after place. `each`:
/// the layout in which the caller has them, of which only the sizes count.
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
    std::vector<extent> all;
    std::size_t end = 0;
    for (int place = 0; place < where_->count(); ++place) {
      all.push_back({end, bytes_of(place)});
      end += all.back().bytes;
    }
    return block_layout::uneven(std::move(all));
  }
  /// The blocks of the ranks of a place.
  [[nodiscard]] block_layout within(int place) const {
    const auto members = where_->members(place);
    if (each_.is_even()) return block_layout::even(static_cast<int>(members.size()), each_.largest());
    std::vector<extent> all;
    std::size_t end = 0;
    for (const int rank : members) {
      all.push_back({end, each_[rank].bytes});
      end += each_[rank].bytes;
    }
    return block_layout::uneven(std::move(all));
  }
  /// Copies the blocks of all ranks but `except` from such a buffer to where the caller has them.
  void unpack(std::span<const std::byte> from, const blocks<std::byte>& to, int except) const noexcept {
    for (const int rank : where_->order()) {
      const auto block = to[rank];
      if (rank != except && !block.empty()) chorale::copy_bytes(block.data(), from.data(), block.size());
      from = from.subspan(block.size());
    }
  }
  /// The same from where the caller has them, of all ranks.
  void pack(const blocks<const std::byte>& from, std::span<std::byte> to) const noexcept {
    for (const int rank : where_->order()) {
      const auto block = from[rank];
      if (!block.empty()) chorale::copy_bytes(to.data(), block.data(), block.size());
      to = to.subspan(block.size());
    }
  }

 private:
  const places* where_;
  block_layout each_;
};

}  // namespace chorale
