// SPDX-License-Identifier: Apache-2.0
// k-way dissemination: every rank signals k others in each round.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The rounds of one rank in a k-way dissemination: in round m, at distance d = (k + 1)^m, it signals rank +
/// j d and waits for rank - j d (mod size) for j = 1 .. k, as far as j d < size. All these distances are
/// different, so a rank signals each other at most once. Cost: ceil(log_{k+1} size) rounds of at most k
/// messages. Source: P1 section 3.2 for k = 1.
class dissemination_k {
 public:
  /// The peers of one round.
  class round {
   public:
    /// Messages of this round in each direction, at most k.
    [[nodiscard]] constexpr int count() const { return count_; }
    /// Receiver of message `j` in [0, count()).
    [[nodiscard]] constexpr int to(int j) const { return wrap(rank_ + (j + 1) * distance_, size_); }
    /// Sender of message `j` in [0, count()).
    [[nodiscard]] constexpr int from(int j) const { return wrap(rank_ - (j + 1) * distance_, size_); }

   private:
    friend class dissemination_k;
    constexpr round(int rank, int size, int distance, int count)
        : rank_(rank), size_(size), distance_(distance), count_(count) {}
    int rank_;
    int size_;
    int distance_;
    int count_;
  };

  /// A group of one.
  constexpr dissemination_k() = default;
  /// @throws error errc::invalid_argument if rank is outside [0, size), or degree is less than 1.
  constexpr dissemination_k(int rank, int size, int degree) : rank_(rank), size_(size), degree_(degree) {
    detail::require_group("dissemination_k", rank, size);
    if (degree < 1 || degree >= max_size) detail::reject("dissemination_k", "degree", degree, "1 and up");
  }

  /// Rounds.
  [[nodiscard]] constexpr int size() const {
    int rounds = 0;
    for (long long reached = 1; reached < size_; reached *= degree_ + 1) ++rounds;
    return rounds;
  }
  [[nodiscard]] constexpr bool empty() const { return size_ == 1; }
  constexpr round operator[](int index) const {
    int distance = 1;
    for (int m = 0; m < index; ++m) distance *= degree_ + 1;
    const int reachable = (size_ - 1) / distance;
    return {rank_, size_, distance, reachable < degree_ ? reachable : degree_};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<dissemination_k>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<dissemination_k>{*this, size()}; }

 private:
  int rank_ = 0;
  int size_ = 1;
  int degree_ = 1;
};

}  // namespace chorale::topology
