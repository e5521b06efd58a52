// All pairs: every rank meets every other once, in size - 1 steps without a hot spot.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The steps of one rank in an alltoall. Where size is a power of two, step i exchanges with rank xor i; else
/// it sends to (rank + i) mod size and receives from (rank - i) mod size. Each rank is target of one in a
/// step. Source: P5 section 2.
class all_pairs {
 public:
  /// With whom this rank exchanges, and in which step.
  struct step {
    int index;  ///< i, from 1 to size - 1
    int to;
    int from;
  };

  /// A group of one.
  constexpr all_pairs() = default;
  /// @throws error errc::invalid_argument if rank is outside [0, size).
  constexpr all_pairs(int rank, int size) : rank_(rank), size_(size) {
    detail::require_group("all_pairs", rank, size);
  }

  [[nodiscard]] constexpr int size() const { return size_ - 1; }
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }
  constexpr step operator[](int position) const {
    const int i = position + 1;
    if (is_power_of_two(size_)) return {i, rank_ ^ i, rank_ ^ i};
    return {i, wrap(rank_ + i, size_), wrap(rank_ - i, size_)};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<all_pairs>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<all_pairs>{*this, size()}; }

 private:
  int rank_ = 0;
  int size_ = 1;
};

/// Which steps of an alltoall are taken for something that each partner costs, as connections do: at least
/// `wanted` of them, with as few partners as may be. Where `size` is a power of two these are the first. Else
/// they come in pairs, i and size - i, which have the same two partners; of an even `size` step size / 2 has
/// but one, and goes to make an odd number. `wanted` below 0 is 0. Source: P5 section 4.3 (the k steps).
class nearest_steps {
 public:
  /// `wanted` steps at least of a group of `size` ranks.
  constexpr nearest_steps(int size, int wanted)
      : size_(size),
        wanted_(wanted < 0          ? 0
                : wanted < size - 1 ? wanted
                                    : size - 1) {}

  /// How many: what was wanted, at most all; one more where `size` and that are odd. Each rank has as many
  /// partners in them.
  [[nodiscard]] constexpr int count() const { return wanted_ + (size_ % 2 == 1 && wanted_ % 2 == 1 ? 1 : 0); }
  /// Whether step `index`, from 1 to size - 1, is one of them.
  [[nodiscard]] constexpr bool contain(int index) const {
    if (is_power_of_two(size_)) return index <= wanted_;
    const int distance = index < size_ - index ? index : size_ - index;
    if (2 * distance == size_) return wanted_ % 2 == 1;
    return 2 * distance <= count();
  }

 private:
  int size_;
  int wanted_;
};

}  // namespace chorale::topology
