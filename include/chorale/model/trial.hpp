// Finding out by trial which algorithm is the fastest here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/core/clock.hpp>

namespace chorale::model {

/// Contenders that serve calls in turn, several calls each, in several rounds. The first call of a turn warms
/// up, the others are timed. When all turns are over the ranks add their times up, and the contender with the
/// least median over the rounds wins, so that a rank that was disturbed in one round does not decide. The
/// first contender is what the tuning table says; another one has to be faster by more than a twentieth.
///
/// It knows nothing of messages: the caller makes the calls and adds the times up. Ranks that make the same
/// calls are at the same turn.
class trial {
 public:
  static constexpr std::size_t rounds = 3;
  static constexpr std::size_t most_contenders = 6;

  /// `contenders`: numbers of algorithms, two at least. `bytes`: of a call. Long ones have shorter turns.
  trial(std::vector<int> contenders, std::size_t bytes);

  /// Who serves the next call. Precondition: it is not over.
  [[nodiscard]] int contender() const noexcept { return contenders_[turn() % contenders_.size()]; }
  /// Calls until it is over.
  [[nodiscard]] std::size_t calls_left() const noexcept { return nanoseconds_.size() * calls_ - made_; }
  [[nodiscard]] bool is_over() const noexcept { return calls_left() == 0; }
  /// The next call is made, and took so long on this rank. Precondition: it is not over.
  void took(clock::duration time) noexcept;

  /// Nanoseconds of each turn; when it is over they are to become the sums over all ranks.
  [[nodiscard]] std::span<std::uint64_t> times() noexcept { return nanoseconds_; }
  /// Who has won, once times() are sums. Precondition: it is over.
  [[nodiscard]] int winner() const noexcept { return contenders_[fastest()]; }
  /// "fastest in a trial: 12.3 us a call, where ring took 15.1", of that many ranks; `first` is the name of
  /// the first contender.
  [[nodiscard]] std::string describe(int ranks, std::string_view first) const;

 private:
  [[nodiscard]] std::size_t turn() const noexcept { return made_ / calls_; }
  [[nodiscard]] std::uint64_t median(std::size_t contender) const noexcept;
  [[nodiscard]] std::size_t fastest() const noexcept;

  std::vector<int> contenders_;
  std::vector<std::uint64_t> nanoseconds_;
  std::size_t calls_;  ///< of a turn
  std::size_t made_ = 0;
};

/// Where trials of other sizes begin: the limits of stretches from `first` to `last` bytes, both included, at
/// powers of four from 16 bytes to 64 MiB, `last` at the end.
[[nodiscard]] std::vector<std::size_t> trial_limits(std::size_t first, std::size_t last);

}  // namespace chorale::model
