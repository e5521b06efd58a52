// A broadcast of n blocks over a circulant graph, in the fewest rounds that there can be.
#pragma once

#include <array>
#include <bit>
#include <cstddef>

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/circulant.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// Which blocks a rank other than the root receives in the q = ceil(log2 size) rounds of a phase of
/// `circulant_broadcast`. In each phase the root sends q blocks for the first time: those are 0 to q - 1, and
/// those of phases before are below 0. A rank receives one of the former and q - 1 of the latter.
///
/// Found by a depth-first search among the sums of falling distances, in which each distance is taken once.
/// O(log size) to make, and as much memory; the tests prove it for every size up to 300.
/// Source: Traeff, "Optimal broadcast schedules in logarithmic time with applications to broadcast,
/// all-broadcast, reduction and all-reduction", 2024.
class circulant_schedule {
 public:
  constexpr circulant_schedule() = default;
  /// `relative`: the rank, counted from the root.
  constexpr circulant_schedule(int relative, int size)
      : size_(size), rounds_(ceil_log2(size)), target_(static_cast<long long>(relative) + size) {
    const int own = first_of_phase(relative);
    candidates_ = (2U << rounds_) - 1U;
    drop(own);
    visit(0, rounds_);
    for (int k = 0; k < rounds_; ++k) {
      signed char& block = blocks_[static_cast<std::size_t>(k)];
      block = static_cast<signed char>(block == rounds_ ? own : block - rounds_);
    }
  }
  /// Round k of a phase, in [0, q).
  [[nodiscard]] constexpr int block(int k) const { return blocks_[static_cast<std::size_t>(k)]; }

 private:
  [[nodiscard]] constexpr int skip(int m) const { return circulant::skip(m, size_); }
  /// The highest candidate up to `e`; -1 if there is none.
  [[nodiscard]] constexpr int candidate(int e) const {
    return static_cast<int>(std::bit_width(candidates_ & ((2U << e) - 1U))) - 1;
  }
  constexpr void drop(int e) { candidates_ &= ~(1U << e); }

  /// The block that the rank is the first of its part of the group to get: the index of the smallest distance
  /// of those that add up to it; q for the root.
  [[nodiscard]] constexpr int first_of_phase(int relative) const {
    int smallest = rounds_;
    for (int m = rounds_ - 1; m >= 0 && relative > 0; --m) {
      if (skip(m) > relative) continue;
      relative -= skip(m);
      smallest = m;
    }
    return smallest;
  }
  /// Extends the path that has come to `reached` by each candidate distance from number `e` down.
  constexpr void visit(long long reached, int e) {
    for (e = candidate(e); e >= 0 && found_ < rounds_; e = e == 0 ? -1 : candidate(e - 1)) {
      const long long next = reached + skip(e);
      if (next > target_ - skip(found_) || next >= last_) continue;
      if (next <= target_ - skip(found_ + 1)) {
        visit(next, e);
        if (found_ == rounds_) return;
      }
      if (reached > target_ - skip(found_ + 1)) return;
      last_ = next;
      blocks_[static_cast<std::size_t>(found_++)] = static_cast<signed char>(e);
      drop(e);
    }
  }

  int size_ = 1;
  int rounds_ = 0;
  long long target_ = 1;
  long long last_ = 2LL * max_size;
  unsigned candidates_ = 0;
  int found_ = 0;
  std::array<signed char, 31> blocks_{};
};

/// The rounds of one rank in a broadcast of `blocks` blocks over a circulant graph. In each it sends at
/// most one block, which it has, to rank + skip, and receives at most one, which it has not, from rank -
/// skip; with q = ceil(log2 size) the distance of round i is that of number i mod q, counted so that the
/// last round is the last of a phase. Cost: blocks - 1 + q rounds, the fewest that there can be; O(log^2
/// size) to make. Source: as of `circulant_schedule`.
class circulant_broadcast {
 public:
  /// What this rank does in a round.
  struct round {
    int index;     ///< number of the distance, in [0, q): stands for one receiver and one sender
    int to;        ///< (rank + skip) mod size
    int sent;      ///< block that goes there; -1 if none
    int from;      ///< (rank - skip) mod size
    int received;  ///< block that comes from there; -1 if none
  };

  /// A group of one.
  constexpr circulant_broadcast() = default;
  /// @throws error errc::invalid_argument if rank or root is outside [0, size), or blocks outside [0, 2^30].
  constexpr circulant_broadcast(int rank, int size, int root, int blocks)
      : rank_(rank), size_(size), root_(root), blocks_(blocks) {
    detail::require_group("circulant_broadcast", rank, size, root);
    if (blocks < 0 || blocks > max_size) detail::reject("circulant_broadcast", "blocks", blocks, "0 to 2^30");
    const int relative = wrap(rank - root, size);
    receives_ = circulant_schedule{relative, size};
    for (int k = 0; k < ceil_log2(size); ++k) {
      const circulant_schedule theirs{wrap(relative + circulant::skip(k, size), size), size};
      sends_[static_cast<std::size_t>(k)] = static_cast<signed char>(theirs.block(k));
    }
  }

  [[nodiscard]] constexpr int size() const { return empty() ? 0 : blocks_ - 1 + ceil_log2(size_); }
  [[nodiscard]] constexpr bool empty() const { return size_ == 1 || blocks_ == 0; }
  constexpr round operator[](int i) const {
    const int q = ceil_log2(size_);
    // The first phase is short by as many rounds as the rounds in all are short of whole phases.
    const int missing = (q - (blocks_ - 1) % q) % q;
    const int k = (i + missing) % q;
    const int distance = circulant::skip(k, size_);
    const int to = wrap(rank_ + distance, size_);
    return {k, to, to == root_ ? -1 : of_phase(sends_[static_cast<std::size_t>(k)], i - k),
            wrap(rank_ - distance, size_), rank_ == root_ ? -1 : of_phase(receives_.block(k), i - k)};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<circulant_broadcast>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<circulant_broadcast>{*this, size()}; }

 private:
  /// Block `block` of the phase in which the root first sends block `first`: what would be past the last
  /// block is the last one, and what would be before the first is none.
  [[nodiscard]] constexpr int of_phase(int block, int first) const {
    const int number = first + block;
    return number < 0 ? -1 : number < blocks_ ? number : blocks_ - 1;
  }

  int rank_ = 0;
  int size_ = 1;
  int root_ = 0;
  int blocks_ = 0;
  circulant_schedule receives_;
  std::array<signed char, 31> sends_{};
};

}  // namespace chorale::topology
