// SPDX-License-Identifier: Apache-2.0
// Pairwise exchange (recursive doubling) for signals, which need no order.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The steps of one rank. If size is a power of two: log2 size exchanges with rank xor 2^m. Otherwise, with P
/// the largest power of two below size, a surplus rank (P or above) first signals rank - P and waits for its
/// signal at the end; in between, the ranks below P exchange among themselves: floor(log2 size) + 2 steps.
/// Source: P1 section 3.1.
class pairwise_exchange {
 public:
  /// What this rank does in a step.
  enum class kind {
    send,      ///< signal the peer
    receive,   ///< wait for the peer
    exchange,  ///< signal the peer, then wait for it
  };
  /// A step of this rank.
  struct step {
    pairwise_exchange::kind kind;  ///< what to do
    int peer;                      ///< with which rank
    /// Number of the step, the same on both sides, in [0, steps_of(size)): m for the exchanges, then one each
    /// for the first and the last signal of a surplus rank.
    int index;
  };

  /// A group of one.
  constexpr pairwise_exchange() = default;
  /// @throws error errc::invalid_argument if rank is outside [0, size).
  constexpr pairwise_exchange(int rank, int size) : rank_(rank), size_(size) {
    detail::require_group("pairwise_exchange", rank, size);
  }

  /// Steps of this rank: 2 for a surplus rank, 2 more than the exchanges for its partner.
  [[nodiscard]] constexpr int size() const {
    return is_surplus() ? 2 : floor_log2(size_) + (has_surplus() ? 2 : 0);
  }
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }
  constexpr step operator[](int i) const {
    const int exchanges = floor_log2(size_);
    const int surplus = 1 << exchanges;
    if (is_surplus())
      return i == 0 ? step{kind::send, rank_ - surplus, exchanges}
                    : step{kind::receive, rank_ - surplus, exchanges + 1};
    if (has_surplus()) {
      if (i == 0) return {kind::receive, rank_ + surplus, exchanges};
      if (i == exchanges + 1) return {kind::send, rank_ + surplus, exchanges + 1};
      --i;
    }
    return {kind::exchange, rank_ ^ (1 << i), i};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<pairwise_exchange>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<pairwise_exchange>{*this, size()}; }

  /// log2 size for a power of two, else floor(log2 size) + 2.
  [[nodiscard]] static constexpr int steps_of(int size) {
    return floor_log2(size) + (is_power_of_two(size) ? 0 : 2);
  }

 private:
  [[nodiscard]] constexpr bool is_surplus() const { return rank_ >= (1 << floor_log2(size_)); }
  [[nodiscard]] constexpr bool has_surplus() const { return rank_ + (1 << floor_log2(size_)) < size_; }

  int rank_ = 0;
  int size_ = 1;
};

}  // namespace chorale::topology
