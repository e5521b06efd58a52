// SPDX-License-Identifier: Apache-2.0
// Finds by trial which algorithm is fastest here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/core/clock.hpp>

namespace chorale::model {

/// A comparison of contenders that serve calls in turn, several calls each, for several rounds. The first
/// call of a turn warms up, the others are timed. After each round the ranks add up their times, and clearly
/// slower contenders leave, unless they were ahead in some round. So slow algorithms serve few calls, and
/// close ones are compared for up to `most_rounds` rounds, in longer turns. The least median over the rounds
/// wins, so that single disturbed turns do not decide. The first contender is the tuning table's choice: it
/// stays unless another one is faster by more than one part in 32.
///
/// A trial sends no messages and reads no clock: the caller makes the calls, times them, and adds up times().
/// Ranks that make the same calls are at the same turn.
class trial {
 public:
  static constexpr std::size_t most_rounds = 13;
  static constexpr std::size_t most_contenders = 8;

  /// `contenders`: numbers of at least two algorithms. `bytes`: of the calls, or of one of them; from 4 KiB
  /// on, times of calls of other sizes are scaled to it.
  trial(std::vector<int> contenders, std::size_t bytes);

  /// The algorithm for the next call.
  [[nodiscard]] int contender() const noexcept { return contenders_[racing_[at_ % racing_.size()]]; }
  /// Reports a call and its time on this rank; no time if it tells nothing about the algorithm. Precondition:
  /// neither the round nor the trial is over.
  void record(std::size_t bytes, std::optional<clock::duration> time);

  /// Whether the caller must add up times() and call judge().
  [[nodiscard]] bool round_is_over() const noexcept { return at_ == racing_.size(); }
  /// The times of a round that is over, which the caller replaces by sums over all ranks.
  [[nodiscard]] std::span<std::uint64_t> times() noexcept { return times_; }
  /// Begins the next round, or ends the trial. Precondition: the round is over, times() are sums.
  void judge();

  [[nodiscard]] bool is_over() const noexcept { return over_; }
  /// The number of calls of the trial on each rank.
  [[nodiscard]] std::size_t calls() const noexcept { return made_; }
  /// The fastest algorithm. Precondition: the trial is over.
  [[nodiscard]] int winner() const noexcept { return contenders_[best_ == none ? 0 : best_]; }
  /// "fastest in a trial of 96 calls: 12.3 us a call, where ring took 15.1; the trial cost 70 us", for
  /// `ranks` ranks; `first` is the name of the first contender. The cost is the time that the calls of the
  /// trial took longer than if the winner had served them all.
  [[nodiscard]] std::string describe(int ranks, std::string_view first) const;

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  [[nodiscard]] bool is_known(std::size_t contender) const noexcept { return !seen_[contender].empty(); }
  [[nodiscard]] double median(std::size_t contender) const;
  [[nodiscard]] double least_median() const;
  void take_sums();
  void drop_the_slow();
  [[nodiscard]] bool all_are_close() const;
  void begin_round();
  void end();

  std::vector<int> contenders_;
  std::size_t bytes_;
  std::vector<std::size_t> racing_;        ///< contenders that still take part, in order
  std::vector<std::vector<double>> seen_;  ///< for each contender: nanoseconds of a call in each round
  std::vector<std::uint64_t> times_;  ///< of all calls, then of each racing contender: nanoseconds, calls
  std::size_t turn_calls_;
  std::size_t at_ = 0;       ///< index in racing_ of the current turn
  std::size_t in_turn_ = 0;  ///< calls made in the current turn
  std::size_t made_ = 0;
  std::size_t rounds_ = 0;
  double spent_ = 0;        ///< nanoseconds of all timed calls, summed over the ranks
  double spent_calls_ = 0;  ///< the number of those calls
  std::size_t best_ = none;
  bool over_ = false;
};

/// The limits of size ranges that have trials of their own, between `first` and `last` bytes inclusive:
/// powers of four from 16 bytes to 4 KiB, then powers of two to 64 MiB, with `last` at the end.
[[nodiscard]] std::vector<std::size_t> trial_limits(std::size_t first, std::size_t last);

}  // namespace chorale::model
