// SPDX-License-Identifier: Apache-2.0
// Recursive doubling that keeps rank order, for reductions and allgathers.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The steps of one rank; any size. With P the largest power of two in size and R = size - P: 1. fold: each
/// odd rank among the first 2 R sends its operand to the even rank below it and leaves; 2. log2 P exchanges
/// among the remaining P ranks: partners send each other the operands they hold; 3. unfold: the even rank
/// sends the result back.
/// Neighbours fold, not distant ranks, so that a rank always holds the operands of a contiguous range of
/// ranks, and its peer those of the adjacent range on the left or right: operators need not commute. Cost:
/// log2 size steps for a power of two, else floor(log2 size) + 2. Source: P4 section 2.3 for the exchanges;
/// neighbours fold to keep rank order.
class recursive_doubling {
 public:
  /// What this rank does in a step.
  enum class kind {
    send_operand,     ///< fold: send to peer, then skip to receive_result
    receive_operand,  ///< fold: receive from peer and combine
    exchange,         ///< send held operands to peer, receive the peer's and combine
    send_result,      ///< unfold: send the result to peer
    receive_result,   ///< unfold: receive the result from peer
  };
  /// A step of this rank.
  struct step {
    recursive_doubling::kind kind;  ///< what to do
    int peer;                       ///< with which rank
    /// Number of the step, the same on both sides, in [0, steps_of(size)): m for the exchanges, then one each
    /// for the fold and the unfold.
    int index;
    rank_range sent;      ///< ranks whose operands (blocks) go to the peer; count 0 if none
    rank_range received;  ///< ranks whose operands (blocks) come from the peer; count 0 if none

    /// Whether the peer's operand is the left one: op(peer's, mine), otherwise op(mine, peer's).
    [[nodiscard]] constexpr bool peer_is_left() const { return received.first < sent.first; }
  };

  /// A group of one.
  constexpr recursive_doubling() = default;
  /// @throws error errc::invalid_argument if rank is outside [0, size).
  constexpr recursive_doubling(int rank, int size) : rank_(rank), size_(size) {
    detail::require_group("recursive_doubling", rank, size);
  }

  /// Steps of this rank: 2 for one that folds away, 2 more than the exchanges for its neighbour.
  [[nodiscard]] constexpr int size() const {
    if (!is_folded()) return floor_log2(size_);
    return leaves() ? 2 : floor_log2(size_) + 2;
  }
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }
  constexpr step operator[](int i) const {
    const int exchanges = floor_log2(size_);
    const rank_range all{0, size_};
    if (is_folded()) {
      if (leaves())
        return i == 0 ? step{kind::send_operand, rank_ - 1, exchanges, {rank_, 1}, {rank_, 0}}
                      : step{kind::receive_result, rank_ - 1, exchanges + 1, {0, 0}, all};
      if (i == 0) return {kind::receive_operand, rank_ + 1, exchanges, {rank_, 0}, {rank_ + 1, 1}};
      if (i == exchanges + 1) return {kind::send_result, rank_ + 1, exchanges + 1, all, {0, 0}};
      --i;
    }
    const int me = rank_ < 2 * surplus() ? rank_ / 2 : rank_ - surplus();
    const int partner = me ^ (1 << i);
    return {kind::exchange, first_of(partner), i, held(me, i), held(partner, i)};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<recursive_doubling>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<recursive_doubling>{*this, size()}; }

  /// log2 size for a power of two, else floor(log2 size) + 2.
  [[nodiscard]] static constexpr int steps_of(int size) {
    return floor_log2(size) + (is_power_of_two(size) ? 0 : 2);
  }

 private:
  [[nodiscard]] constexpr int surplus() const { return size_ - (1 << floor_log2(size_)); }
  [[nodiscard]] constexpr bool is_folded() const { return rank_ < 2 * surplus(); }
  [[nodiscard]] constexpr bool leaves() const { return rank_ % 2 == 1; }
  /// Real rank of survivor `s`, which after the fold holds its own operand and perhaps its neighbour's;
  /// `size` for s = P.
  [[nodiscard]] constexpr int first_of(int s) const { return s < surplus() ? 2 * s : s + surplus(); }
  [[nodiscard]] constexpr rank_range held(int survivor, int exchange) const {
    const int first = survivor >> exchange << exchange;
    const int begin = first_of(first);
    return {begin, first_of(first + (1 << exchange)) - begin};
  }

  int rank_ = 0;
  int size_ = 1;
};

}  // namespace chorale::topology
