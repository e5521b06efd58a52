// An exclusive scan by doubling, with the distances 1, 2, 3, 6, 12, ...
#pragma once

#include <algorithm>

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The rounds of one rank in an exclusive scan. A rank gathers the operands of the ranks just before it: of
/// one in the round of distance 1, of three after that of distance 2, in which each sends its own operand
/// with what it has, and from then on of twice as many after each round, of which the distance is what it
/// has. What comes stands to the left of what is there, so that rank order is kept. Cost: for three ranks
/// and more ceil(log2(size - 1) + log2(4/3)) rounds, and one combination in all but the second, which takes
/// two. Source: Traeff, "Communication round and computation efficient exclusive prefix-sums algorithms",
/// 2025.
class doubling_123 {
 public:
  /// What this rank does in a round.
  struct round {
    int index;            ///< from 0
    int to;               ///< rank + distance; -1 if nobody there needs anything from this rank
    int from;             ///< rank - distance; -1 if nobody there has anything
    rank_range sent;      ///< ranks whose operands go to `to`
    rank_range received;  ///< ranks whose operands come from `from`
  };

  /// A group of one.
  constexpr doubling_123() = default;
  /// @throws error errc::invalid_argument if rank is outside [0, size).
  constexpr doubling_123(int rank, int size) : rank_(rank), size_(size) {
    detail::require_group("doubling_123", rank, size);
  }

  /// Rounds, the same for all ranks.
  [[nodiscard]] constexpr int size() const {
    int rounds = 0;
    // The last rank hears of rank 0 by its neighbours from the third round on.
    while (distance(rounds) < size_ - (rounds < 2 ? 0 : 1)) ++rounds;
    return rounds;
  }
  [[nodiscard]] constexpr bool empty() const { return size_ == 1; }
  constexpr round operator[](int m) const {
    const int d = distance(m);
    const rank_range sent = sent_by(rank_, m);
    const rank_range received = rank_ < d ? rank_range{} : sent_by(rank_ - d, m);
    const bool sends = sent.count > 0 && rank_ < size_ - d;
    return {m, sends ? rank_ + d : -1, received.count > 0 ? rank_ - d : -1, sends ? sent : rank_range{},
            received};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<doubling_123>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<doubling_123>{*this, size()}; }

 private:
  [[nodiscard]] static constexpr int distance(int m) { return m < 2 ? m + 1 : 3 << (m - 2); }
  /// What a rank has before round m, and in the first two rounds its own operand.
  [[nodiscard]] static constexpr rank_range sent_by(int rank, int m) {
    const int first = std::max(0, rank - (m < 2 ? m : distance(m)));
    return {first, (m < 2 ? rank + 1 : rank) - first};
  }

  int rank_ = 0;
  int size_ = 1;
};

}  // namespace chorale::topology
