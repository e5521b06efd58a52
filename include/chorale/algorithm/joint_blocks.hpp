// SPDX-License-Identifier: Apache-2.0
// Which blocks of a call with a root travel together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <chorale/algorithm/agreed.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/places.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// The blocks of a gather or scatter whose sizes only the root and their own ranks know: the short blocks of
/// a place pass through its leader, and travel between it and the root as one message. All others go
/// straight, and so do those of the root's place and of a place of one rank. The same on all ranks.
class joint_blocks {
 public:
  /// Longest short block, in bytes. What longer ones take is the time of their bytes, which passing through
  /// a leader prolongs.
  static constexpr std::size_t longest = 256;

  /// `net` must outlive the object.
  template <placed_transport Net>
  joint_blocks(const Net& net, int root)
      : where_(&net.layout()),
        home_(where_->of(root)),
        longest_(std::min(longest, net.block_bytes() - agreed::envelope_room)) {}

  /// Whether the ranks of a place do without their leader.
  [[nodiscard]] bool go_straight(int place) const noexcept {
    return place == home_ || where_->members(place).size() == 1;
  }
  /// Whether a block of so many bytes passes through the leader, if its place does not do without.
  [[nodiscard]] bool is_short(std::size_t bytes) const noexcept { return bytes <= longest_; }
  /// Bytes of a block that pass through the leader.
  [[nodiscard]] std::size_t joint_bytes(std::size_t bytes) const noexcept {
    return is_short(bytes) ? bytes : 0;
  }
  /// At the root: the memory of the short blocks of `members`, ranks of a place, if these blocks follow each
  /// other without gaps. Empty if they do not.
  template <class Byte>
  [[nodiscard]] std::span<Byte> adjoining(const blocks<Byte>& all,
                                          std::span<const int> members) const noexcept {
    std::span<Byte> range;
    for (const int member : members) {
      const auto block = all[member].first(joint_bytes(all[member].size()));
      if (range.empty())
        range = block;
      else if (block.empty())
        continue;
      else if (block.data() != range.data() + range.size())
        return {};
      else
        range = {range.data(), range.size() + block.size()};
    }
    return range;
  }

 private:
  const places* where_;
  int home_;
  std::size_t longest_;
};

/// Whether blocks of a place travel together at all: there are several places, of which one has several
/// ranks, which reach each other by another device than the others. The same on all ranks.
template <mailbox_transport Net>
[[nodiscard]] bool joins_blocks(const Net& net) noexcept {
  if constexpr (placed_transport<Net>) {
    if constexpr (laned_transport<Net>) {
      if (!net.uses_lanes()) return false;
    }
    return net.layout().count() > 1 && net.layout().largest() > 1;
  } else {
    return false;
  }
}

/// What passes through the leader of a place: the size of each block, and the short blocks behind each other.
struct joined {
  std::vector<std::uint64_t> sizes;  ///< in bytes, of all blocks
  std::vector<std::byte> data;       ///< the short ones

  /// Adds a block of `size` bytes; `block` is empty if it goes straight.
  void add(std::size_t size, std::span<const std::byte> block) {
    sizes.push_back(size);
    const std::size_t at = data.size();
    data.resize(at + block.size());
    if (!block.empty()) chorale::copy_bytes(data.data() + at, block.data(), block.size());
  }
};

}  // namespace chorale
