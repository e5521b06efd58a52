// SPDX-License-Identifier: Apache-2.0
// What messages of an exchange cost by blocks and straight.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <chorale/core/clock.hpp>

namespace chorale::exchange {

/// What messages of about one size cost the cores that move them, in nanoseconds for each 64 KiB, and how the
/// next ones are sent. Only this core's work is timed, not the call: in a ring the time of a call is that of
/// all ranks, in which a rank's own decision hardly shows.
class cost_of_ways {
 public:
  /// The copies of this core that are compared.
  enum class work : std::uint8_t {
    send,  ///< into blocks
    take,  ///< out of blocks
    read   ///< straight
  };

  /// How a call proceeds.
  struct step {
    bool by_blocks;  ///< its messages go by blocks
    bool is_timed;   ///< whether work is to be recorded: reading a clock costs time
  };
  /// What the next call does. Two calls go straight, then a trial of blocks begins; later calls go the
  /// cheaper way, or as `usually_by_blocks` says while costs are not known. After the first trial, the dearer
  /// way is tried in less than 1 % of the calls. A trial lasts two calls; a trial of blocks that cost less
  /// than three times as much lasts up to `calls_of_turns` calls, in which all blocks are used twice: blocks
  /// that have not been used lately cost up to four times as much as those of many calls in succession.
  [[nodiscard]] step next(bool usually_by_blocks, std::uint64_t calls_of_turns = tries) noexcept {
    const std::uint64_t call = calls_++;
    if (call < 2 * tries) return {call >= tries, true};
    const bool best = by_blocks(usually_by_blocks);
    if (call == next_trial_) tries_blocks_ = !best;
    if (call >= next_trial_) {
      const std::uint64_t tried = call - next_trial_;
      if (tries_blocks_ != best &&
          (tried < tries || (tries_blocks_ && tried < calls_of_turns && are_close())))
        return {tries_blocks_, true};
      next_trial_ = call + calls_of_a_trial * (tries_blocks_ == best ? tries : tried);
    }
    return {best, call % calls_of_a_sample == 0};
  }
  /// Whether blocks cost less, as far as is known; otherwise `usually`. Messages that usually go by blocks do
  /// so unless that costs more than half as much again: a rank whose peer goes straight finds its own blocks
  /// dearer than if both used blocks.
  [[nodiscard]] bool by_blocks(bool usually) const noexcept {
    const auto& [send, take, read] = least_;
    if (!are_known()) return usually;
    return *send + *take < (usually ? *read + *read / 2 : *read);
  }
  /// Records that `what` took `time` for `bytes` bytes, not 0. The least of the latest records counts: one
  /// that was disturbed hardly matters, one that is less counts at once, and what stays larger is believed
  /// after a few.
  void record(work what, std::size_t bytes, clock::duration time) noexcept {
    const auto took = static_cast<std::uint64_t>(std::max<clock::rep>(time.count(), 0)) * 65536 / bytes;
    auto& least = least_[static_cast<std::size_t>(what)];
    least = least ? std::min(took, *least + *least / 8 + 1) : took;
  }

 private:
  // The first call of a trial may pay for memory that is touched for the first time.
  static constexpr std::uint64_t tries = 2;
  // Calls of the cheaper way for each call of a trial.
  static constexpr std::uint64_t calls_of_a_trial = 127;
  // A peer tries the other way in n of 128 n successive calls. Because 128 and this number have no common
  // divisor, this rank times one of them sooner or later. It is a prime, since programs make a few exchanges
  // in turn.
  static constexpr std::uint64_t calls_of_a_sample = 17;

  [[nodiscard]] bool are_known() const noexcept {
    return std::all_of(least_.begin(), least_.end(), [](const auto& one) { return one.has_value(); });
  }
  [[nodiscard]] bool are_close() const noexcept {
    const auto& [send, take, read] = least_;
    return are_known() && *send + *take < 3 * *read;
  }

  std::array<std::optional<std::uint64_t>, 3> least_;
  std::uint64_t calls_ = 0;
  std::uint64_t next_trial_ = tries;  // the call with which the present or next trial begins
  bool tries_blocks_ = true;          // the way that is tried
};

}  // namespace chorale::exchange
