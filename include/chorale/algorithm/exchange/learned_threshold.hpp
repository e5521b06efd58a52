// SPDX-License-Identifier: Apache-2.0
// From which size on a rank sends the messages of an exchange straight.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>

#include <chorale/algorithm/exchange/cost_of_ways.hpp>
#include <chorale/algorithm/exchange/straight.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/neighbours.hpp>

namespace chorale::exchange {

/// What a rank has learnt about messages that may go either way, for each power of two of their bytes. Cores
/// that copy pass the lines of blocks to each other fast or slowly, depending on how near they are to each
/// other, so that blocks cost between half and four times as much as reading straight (docs/comparison.md).
/// Unlike the algorithms of a collective call, the two ways need no agreement: each sender decides for its
/// messages, and its manifest tells the receiver how they go. A rank assumes that the receivers' copies out
/// of blocks, and their reads, cost as much as its own; one that receives no such messages keeps to the usual
/// way, apart from trials.
class learned_threshold {
 public:
  /// The experience with messages of `bytes`, at most `straight_sizes::most_decided`.
  [[nodiscard]] cost_of_ways& of(std::size_t bytes) noexcept { return ways_[std::bit_width(bytes)]; }
  /// Blocks that calls have used before anything was timed.
  std::size_t untimed_blocks = 0;

 private:
  std::array<cost_of_ways, std::bit_width(straight_sizes::most_decided) + 1> ways_;
};

/// The decision of one call: from which size on this rank's messages go straight.
class threshold_of_call {
 public:
  /// Decides about the messages that rank `me` sends, by the longest one that may go either way. The first
  /// calls go by blocks until they have used about as many as there are for a peer, which are `blocks` of
  /// `block_bytes` bytes each: blocks that are used for the first time may cost page faults, so that their
  /// costs say nothing about later calls.
  threshold_of_call(const straight_sizes& sizes, int me, std::span<const outgoing> sends,
                    learned_threshold& learned, std::size_t blocks, std::size_t block_bytes)
      : sizes_(sizes), from_(sizes.usual) {
    if (!sizes.are_decided()) return;
    for (const outgoing& message : sends) {
      const std::size_t bytes = message.bytes.size();
      if (bytes >= sizes.least && bytes < sizes.sure && message.peer != me)
        longest_ = std::max(longest_, bytes);
    }
    if (longest_ == 0) return;
    const std::size_t blocks_of_call = 1 + (longest_ + block_bytes - 1) / block_bytes;
    if (learned.untimed_blocks < blocks) {
      learned.untimed_blocks += blocks_of_call;
      from_ = sizes.sure;
      return;
    }
    cost_of_ways& costs = learned.of(longest_);
    const auto step = costs.next(longest_ < sizes.usual, 2 * blocks / blocks_of_call + 2);
    from_ = step.by_blocks ? sizes.sure : sizes.least;
    if (step.is_timed) costs_ = &costs;
  }

  /// The sizes that are the same on all ranks.
  [[nodiscard]] const straight_sizes& sizes() const noexcept { return sizes_; }
  /// The number of bytes from which this rank's messages go straight in this call.
  [[nodiscard]] std::size_t straight_from() const noexcept { return from_; }

  /// What work of one kind has taken in this call.
  struct tally {
    clock::duration time{};  ///< the sum of the times
    std::size_t bytes = 0;   ///< that were copied in it
  };
  /// Adds the time from construction to `end` to a tally.
  class stopwatch {
   public:
    /// Times nothing.
    stopwatch() noexcept = default;
    /// Times work on `bytes` bytes.
    stopwatch(tally& of, std::size_t bytes) noexcept : of_(&of), bytes_(bytes), begin_(clock::now()) {}
    /// Ends the time.
    void end() const noexcept {
      if (of_ == nullptr) [[likely]]
        return;
      of_->time += clock::now() - begin_;
      of_->bytes += bytes_;
    }

   private:
    tally* of_ = nullptr;
    std::size_t bytes_ = 0;
    clock::time_point begin_;
  };
  /// Begins to time work of this rank on `bytes` bytes: a piece, or a message that it reads.
  [[nodiscard]] stopwatch time(cost_of_ways::work what, std::size_t bytes) noexcept {
    constexpr std::size_t least = 4096;  // looking at the clock takes some 25 ns
    if (costs_ == nullptr || bytes < least) [[likely]]
      return {};
    // A read costs the more per byte the shorter the message is, a copy does not.
    if (what == cost_of_ways::work::read && std::bit_width(bytes) != std::bit_width(longest_)) return {};
    return {tallies_[static_cast<std::size_t>(what)], bytes};
  }
  /// Records what has been timed.
  void end() const noexcept {
    for (std::size_t i = 0; costs_ != nullptr && i < tallies_.size(); ++i) {
      const tally& one = tallies_[i];
      if (one.bytes != 0) costs_->record(static_cast<cost_of_ways::work>(i), one.bytes, one.time);
    }
  }

 private:
  straight_sizes sizes_;
  std::size_t from_;
  std::size_t longest_ = 0;        // bytes of the longest message that may go either way
  cost_of_ways* costs_ = nullptr;  // null: this call is not timed
  std::array<tally, 3> tallies_{};
};

}  // namespace chorale::exchange
