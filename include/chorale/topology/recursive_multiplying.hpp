// SPDX-License-Identifier: Apache-2.0
// Recursive multiplying that keeps rank order: exchanges among k ranks at once, for reductions.
#pragma once

#include <algorithm>

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The rounds of one rank; any size. With P the largest power of k that is at most `size`, the ranks are
/// divided into P teams of neighbours, of sizes as equal as possible and at most k: 1. fold: the leader of a
/// team, its lowest rank, receives the operands of the others in rank order; 2. log_k P rounds among leaders
/// only: in each, the leaders of k teams at distance 1, k, k^2, ... send each other the operands they hold,
/// and each combines them all; 3. unfold: the leader sends the result to the others of its team. A leader
/// always holds the operands of a contiguous range of ranks, and the ranges of the k leaders of a round
/// follow each other in the order of their digits: operators need not commute. Cost: log_k P rounds of k - 1
/// messages, and two steps of up to k - 1 messages if size is not a power of k. Source: Wilkins et al.,
/// "Generalized collective algorithms for the exascale era", 2023, which folds rank r onto rank r mod P;
/// neighbours fold here, to keep rank order.
class recursive_multiplying {
 public:
  /// The leaders that exchange in one round.
  class round {
   public:
    /// This rank's index among them, in [0, k).
    [[nodiscard]] constexpr int digit() const { return digit_; }
    /// The leader with digit `j` in [0, k).
    [[nodiscard]] constexpr int leader(int j) const {
      return first_of(lowest_ + j * distance_, size_, teams_);
    }

   private:
    friend class recursive_multiplying;
    constexpr round(int size, int teams, int team, int distance, int degree)
        : size_(size),
          teams_(teams),
          distance_(distance),
          digit_(team / distance % degree),
          lowest_(team - digit_ * distance) {}
    int size_;
    int teams_;
    int distance_;
    int digit_;
    int lowest_;  ///< the team of digit 0
  };

  /// A group of one.
  constexpr recursive_multiplying() = default;
  /// @throws error errc::invalid_argument if rank is outside [0, size), or degree is less than 2.
  constexpr recursive_multiplying(int rank, int size, int degree)
      : rank_(rank), size_(size), degree_(degree) {
    detail::require_group("recursive_multiplying", rank, size);
    if (degree < 2 || degree > max_size)
      detail::reject("recursive_multiplying", "degree", degree, "2 to 2^30");
    while (teams_ <= size / degree) teams_ *= degree;
    const int longer = size % teams_;
    const int each = size / teams_;
    const int in_longer = longer * (each + 1);
    team_ = rank < in_longer ? rank / (each + 1) : longer + (rank - in_longer) / each;
  }

  /// The lowest rank of this rank's team.
  [[nodiscard]] constexpr int leader() const { return first_of(team_, size_, teams_); }
  /// Whether this rank is the leader of its team.
  [[nodiscard]] constexpr bool is_leader() const { return rank_ == leader(); }
  /// The other ranks of the team.
  [[nodiscard]] constexpr rank_range followers() const {
    const int first = leader() + 1;
    return {first, first_of(team_ + 1, size_, teams_) - first};
  }

  /// Rounds of a leader; 0 for other ranks.
  [[nodiscard]] constexpr int size() const {
    int rounds = 0;
    for (long long reached = 1; reached < teams_; reached *= degree_) ++rounds;
    return is_leader() ? rounds : 0;
  }
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }
  constexpr round operator[](int index) const {
    int distance = 1;
    for (int m = 0; m < index; ++m) distance *= degree_;
    return {size_, teams_, team_, distance, degree_};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<recursive_multiplying>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<recursive_multiplying>{*this, size()}; }

 private:
  /// The lowest rank of a team. The first (size mod teams) teams have one rank more than the others.
  [[nodiscard]] static constexpr int first_of(int team, int size, int teams) {
    return team * (size / teams) + std::min(team, size % teams);
  }

  int rank_ = 0;
  int size_ = 1;
  int degree_ = 2;
  int teams_ = 1;
  int team_ = 0;
};

}  // namespace chorale::topology
