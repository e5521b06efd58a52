// Recursive multiplying that keeps rank order: exchanges among k ranks at once, for reductions.
#pragma once

#include <algorithm>

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The part of one rank; any size. With P the largest power of k that is at most `size`, the ranks are
/// divided into P teams of neighbours, at most k ranks each and as even as can be:
///  1. fold: the lowest rank of a team, its leader, takes the operands of the others in their order;
///  2. log_k P rounds, for leaders alone, each among the k of teams at distance 1, k, k^2, ...: all send what
///     they hold to all, and each combines what the k hold;
///  3. unfold: the leader sends the result to the others of its team.
/// What a leader holds is at each time the operands of a contiguous range of ranks, and those of the k of a
/// round follow each other in the order of their digits: no operator needs to commute. Cost: log_k P rounds
/// of k - 1 messages, and two steps of up to k - 1 more where size is no power of k.
/// Source: Wilkins et al., "Generalized collective algorithms for the exascale era", 2023, which folds rank r
/// onto rank r mod P; neighbours fold here for the sake of rank order.
class recursive_multiplying {
 public:
  /// The leaders that exchange in one round.
  class round {
   public:
    /// Which of them this rank is, in [0, k).
    [[nodiscard]] constexpr int digit() const { return digit_; }
    /// The one of digit `j` in [0, k).
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
  /// Whether this rank is the leader of its group.
  [[nodiscard]] constexpr bool is_leader() const { return rank_ == leader(); }
  /// The other ranks of the team.
  [[nodiscard]] constexpr rank_range followers() const {
    const int first = leader() + 1;
    return {first, first_of(team_ + 1, size_, teams_) - first};
  }

  /// Rounds of a leader; nobody else makes any.
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
  /// The lowest rank of a team. The first size mod teams have one rank more than the others.
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
