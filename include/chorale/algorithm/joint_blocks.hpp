// SPDX-License-Identifier: Apache-2.0
// Which blocks of a call with a root travel together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <chorale/algorithm/agreed.hpp>
#include <chorale/algorithm/levels.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/places.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// The blocks of a gather or scatter whose sizes only the root and their own ranks know: the short blocks of
/// a place pass through its leader, and travel between it and the root together. All others go straight, and
/// so do those of the root's place and of a place of one rank. The same on all ranks.
class joint_blocks {
 public:
  /// Longest short block, in bytes: at most this, and no more than a message has room for. The time of a
  /// longer block is mostly that of its bytes, which a leader would copy once more.
  static constexpr std::size_t longest = 1024;

  /// `net` must outlive the object.
  template <placed_transport Net>
  joint_blocks(const Net& net, int root)
      : where_(&net.layout()),
        home_(where_->of(root)),
        longest_(std::min(longest, net.block_bytes() - agreed::envelope_room)) {}

  /// Whether short blocks of a place pass through its leader.
  [[nodiscard]] bool joins(int place) const noexcept {
    return place != home_ && where_->members(place).size() > 1;
  }
  /// Whether a block of `bytes` goes straight between its rank and the root.
  [[nodiscard]] bool goes_straight(int place, std::size_t bytes) const noexcept {
    return bytes > longest_ || !joins(place);
  }
  /// Bytes of a block that pass through the leader of a place that joins its blocks.
  [[nodiscard]] std::size_t joint_bytes(std::size_t bytes) const noexcept {
    return bytes <= longest_ ? bytes : 0;
  }
  /// Most bytes that pass through the leader of a place.
  [[nodiscard]] std::size_t room(int place) const noexcept {
    return where_->members(place).size() * longest_;
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

/// Whether blocks of a place travel together at all: there must be two levels and, if the transport can have
/// a lane of its own within places, it must use that lane and there must be at least `least` places. The same
/// on all ranks.
template <placed_transport Net>
[[nodiscard]] bool joins_blocks(const Net& net, int least) noexcept {
  if constexpr (laned_transport<Net>) {
    if (!net.uses_lanes() || net.layout().count() < least) return false;
  }
  return of_levels<>::suits(net);
}

/// Which of `by_place` and `flat` serves a call of `by_place`, and why.
template <mailbox_transport Net>
[[nodiscard]] std::string explain_joining(const Net& net, int least) {
  bool joins = false;
  if constexpr (placed_transport<Net>) joins = chorale::joins_blocks(net, least);
  if (joins) return "by_place: short blocks of a place travel together";
  return "flat: by_place joins the blocks of a place only with two lanes and at least " +
         std::to_string(least) + " places";
}

/// What passes through the leader of a place: the size of each block, and the short blocks one after the
/// other.
class joined {
 public:
  /// `room`: for the short blocks, as `joint_blocks::room` says.
  explicit joined(std::span<std::byte> room) noexcept : room_(room) {}

  /// Adds a block of `size` bytes, of which those in `joint` pass through the leader.
  void add(std::size_t size, std::span<const std::byte> joint) {
    sizes_.push_back(size);
    if (!joint.empty()) chorale::copy_bytes(room_.data() + used_, joint.data(), joint.size());
    used_ += joint.size();
  }
  /// The sizes, as they are sent.
  [[nodiscard]] std::span<const std::byte> sizes() const noexcept { return std::as_bytes(std::span{sizes_}); }
  /// The short blocks.
  [[nodiscard]] std::span<const std::byte> data() const noexcept { return room_.first(used_); }

 private:
  std::vector<std::uint64_t> sizes_;
  std::span<std::byte> room_;
  std::size_t used_ = 0;
};

}  // namespace chorale
