// Finding out by trial which algorithm is the fastest here.
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

/// Contenders that serve calls in turn, several calls each, for several rounds. The first call of a turn
/// warms up, the others are timed. After each round the ranks add their times up, and contenders that are
/// clearly slower leave, unless they were ahead in a round: what takes much longer serves few calls, and what
/// is close is compared for up to `most_rounds` rounds, in turns that are then longer. The least median over
/// the rounds wins, so that turns in which a rank was disturbed do not decide. The first contender is what
/// the tuning table says: it stays unless another one is faster by more than one part in 32.
///
/// It knows nothing of messages and reads no clock: the caller makes the calls, times them, and adds times()
/// up. Ranks that make the same calls are at the same turn.
class trial {
 public:
  static constexpr std::size_t most_rounds = 13;
  static constexpr std::size_t most_contenders = 8;

  /// `contenders`: numbers of algorithms, two at least. `bytes`: of the calls, or of one of them: times of
  /// calls of other sizes, from 4 KiB on, count in proportion.
  trial(std::vector<int> contenders, std::size_t bytes);

  /// Who serves the next call.
  [[nodiscard]] int contender() const noexcept { return contenders_[racing_[at_ % racing_.size()]]; }
  /// The next call is made, and took so long on this rank; nothing where that says nothing of the algorithm.
  /// Precondition: neither the round nor the trial is over.
  void took(std::size_t bytes, std::optional<clock::duration> time);

  /// Whether the caller is to add times() up and to call judge().
  [[nodiscard]] bool round_is_over() const noexcept { return at_ == racing_.size(); }
  /// Of a round that is over: what is to become sums over all ranks.
  [[nodiscard]] std::span<std::uint64_t> times() noexcept { return times_; }
  /// Begins the next round, or ends the trial. Precondition: the round is over, times() are sums.
  void judge();

  [[nodiscard]] bool is_over() const noexcept { return over_; }
  /// Calls that each rank has made.
  [[nodiscard]] std::size_t calls() const noexcept { return made_; }
  /// Who has won. Precondition: it is over.
  [[nodiscard]] int winner() const noexcept { return contenders_[best_ == none ? 0 : best_]; }
  /// "fastest in a trial of 96 calls: 12.3 us a call, where ring took 15.1; the trial cost 70 us", of that
  /// many ranks; `first` is the name of the first contender. The cost is what the calls of the trial took
  /// longer than if the winner had served them all.
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
  std::vector<std::size_t> racing_;        ///< which contenders still take part, in their order
  std::vector<std::vector<double>> seen_;  ///< of each contender: nanoseconds of a call in each round
  std::vector<std::uint64_t> times_;       ///< of all calls, then of each that races: nanoseconds, calls
  std::size_t turn_calls_;
  std::size_t at_ = 0;       ///< whose turn it is
  std::size_t in_turn_ = 0;  ///< calls of the turn that are made
  std::size_t made_ = 0;
  std::size_t rounds_ = 0;
  double spent_ = 0;        ///< nanoseconds of all timed calls, summed over the ranks
  double spent_calls_ = 0;  ///< how many these are
  std::size_t best_ = none;
  bool over_ = false;
};

/// Where trials of other sizes begin: the limits of stretches from `first` to `last` bytes, both included, at
/// powers of four from 16 bytes to 4 KiB, then at powers of two to 64 MiB, `last` at the end.
[[nodiscard]] std::vector<std::size_t> trial_limits(std::size_t first, std::size_t last);

}  // namespace chorale::model
