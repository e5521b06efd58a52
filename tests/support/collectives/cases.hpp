// SPDX-License-Identifier: Apache-2.0
// One rank's memory in a checked call: what it gives, and what it must have afterwards. The caller passes
// these buffers to a communicator or to an algorithm. `fill` prepares them for another call, with the
// operands of another seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/core/operators.hpp>

#include "element_types.hpp"
#include "guarded_buffer.hpp"
#include "placement.hpp"

namespace collectives {

/// A rank's place in a call.
struct participant {
  int rank = 0;
  int ranks = 1;
  std::uint64_t seed = 0;  ///< the same on all ranks
  bool in_place = false;
  std::size_t misalignment = 0;
};

/// `count` elements of the root.
template <class T>
class broadcast_case {
 public:
  broadcast_case(const participant& me, std::size_t count, int root)
      : data{count, me.misalignment}, me_(me), root_(root) {
    fill(me.seed);
  }
  void fill(std::uint64_t seed) {
    me_.seed = seed;
    const bool is_root = me_.rank == root_;
    data.fill_with([&](std::size_t i) { return operand<T>(is_root ? seed : seed + 1, me_.rank, i); });
  }
  void verify(const std::string& what) const {
    data.check(what, [&](std::size_t i) { return operand<T>(me_.seed, root_, i); });
  }
  guarded_buffer<T> data;

 private:
  participant me_;
  int root_;
};

/// A block of each rank, for the ranks that take all of them: those of an allgather, or the root of a
/// gather.
template <class T>
class gathered_case {
 public:
  gathered_case(const participant& me, const placement& where, bool takes)
      : all{where.room, me.misalignment},
        separate{where.count(me.rank), me.misalignment + 1},
        me_(me),
        where_(where),
        takes_(takes) {
    fill(me.seed);
  }
  void fill(std::uint64_t seed) {
    me_.seed = seed;
    separate.fill_with([&](std::size_t i) { return operand<T>(me_.seed, me_.rank, i); });
    if (!takes_) return;
    all.fill_with([&](std::size_t i) { return gap_value<T>(me_.seed, i); });
    if (me_.in_place)
      for (std::size_t i = 0; i < separate.count(); ++i) all.set(where_.first(me_.rank) + i, separate.get(i));
  }
  /// This rank's block.
  [[nodiscard]] std::span<T> mine() {
    return takes_ && me_.in_place ? all.span().subspan(where_.first(me_.rank), separate.count())
                                  : separate.span();
  }
  void verify(const std::string& what) const {
    separate.check(what + ": operand", [&](std::size_t i) { return operand<T>(me_.seed, me_.rank, i); });
    if (!takes_) return all.check_untouched(what + ": out");
    all.check(what, image_of_ranks<T>(where_, me_.seed));
  }
  guarded_buffer<T> all;
  guarded_buffer<T> separate;

 private:
  participant me_;
  placement where_;
  bool takes_;
};

/// A block for each rank, which the root has.
template <class T>
class scatter_case {
 public:
  scatter_case(const participant& me, const placement& where, int root)
      : all{where.room, me.misalignment},
        separate{where.count(me.rank), me.misalignment + 1},
        me_(me),
        where_(where),
        is_root_(me.rank == root) {
    fill(me.seed);
  }
  void fill(std::uint64_t seed) {
    me_.seed = seed;
    if (is_root_) all.set_all(image_of_ranks<T>(where_, seed));
  }
  /// Where this rank's block is to arrive.
  [[nodiscard]] std::span<T> mine() {
    return is_in_place() ? all.span().subspan(where_.first(me_.rank), separate.count()) : separate.span();
  }
  void verify(const std::string& what) const {
    if (is_root_)
      all.check(what + ": operand", image_of_ranks<T>(where_, me_.seed));
    else
      all.check_untouched(what + ": in");
    if (is_in_place()) return separate.check_untouched(what + ": another buffer");
    separate.check(what, [&](std::size_t i) { return operand<T>(me_.seed, me_.rank, i); });
  }
  guarded_buffer<T> all;
  guarded_buffer<T> separate;

 private:
  [[nodiscard]] bool is_in_place() const { return is_root_ && me_.in_place; }
  participant me_;
  placement where_;
  bool is_root_;
};

/// A block for each rank, and one from each. In place, which needs blocks of the same sizes, the latter
/// replace the former.
template <class T>
class alltoall_case {
 public:
  alltoall_case(const participant& me, placement source, placement target)
      : in{source.room, me.misalignment},
        separate{target.room, me.misalignment + 3},
        me_(me),
        source_(std::move(source)),
        target_(std::move(target)) {
    fill(me.seed);
  }
  void fill(std::uint64_t seed) {
    me_.seed = seed;
    const auto gap = [&](std::size_t i) { return gap_value<T>(seed, i); };
    given_ = source_.image<T>([&](int to, std::size_t i) { return letter<T>(seed, me_.rank, to, i); }, gap);
    taken_ =
        target_.image<T>([&](int from, std::size_t i) { return letter<T>(seed, from, me_.rank, i); }, gap);
    in.set_all(given_);
    if (!me_.in_place) separate.fill_with(gap);
  }
  [[nodiscard]] guarded_buffer<T>& out() { return me_.in_place ? in : separate; }
  void verify(const std::string& what) const {
    in.check(what + (me_.in_place ? "" : ": operand"), me_.in_place ? taken_ : given_);
    if (me_.in_place) return separate.check_untouched(what + ": another buffer");
    separate.check(what, taken_);
  }
  guarded_buffer<T> in;
  guarded_buffer<T> separate;

 private:
  participant me_;
  placement source_;
  placement target_;
  std::vector<T> given_;
  std::vector<T> taken_;
};

/// The elements of an operand from `first` on that a rank has as its result, reduced over the first `ranks`
/// ranks. Without ranks there is no result, and nothing may be written.
struct share {
  std::size_t first = 0;
  std::size_t count = 0;
  int ranks = 0;
};

/// How many ranks an algorithm for scans reduces at that rank. Rank 0 has no result of an exclusive one, and
/// keeps its operand; the call puts the initial value there.
constexpr int scanned_ranks(int rank, bool inclusive) noexcept {
  return inclusive || rank == 0 ? rank + 1 : rank;
}

/// `count` elements of each rank, reduced. In place, the result replaces the rank's own operands of it.
template <class T, class Op>
class reduction_case {
 public:
  reduction_case(const participant& me, std::size_t count, const share& taken, const Op& op)
      : in{count, me.misalignment},
        separate{taken.count, me.misalignment + 1},
        me_(me),
        taken_(taken),
        op_(op) {
    fill(me.seed);
  }
  void fill(std::uint64_t seed) {
    me_.seed = seed;
    in.fill_with([&](std::size_t i) { return operand<T, Op>(seed, me_.rank, i); });
  }
  [[nodiscard]] guarded_buffer<T>& out() { return me_.in_place ? in : separate; }
  void verify(const std::string& what) const {
    const auto result = [&](std::size_t i) {
      if (initial && taken_.ranks == 0) return *initial;
      const T combined = expected_reduction<T>(me_.seed, taken_.ranks, taken_.first + i, op_);
      return initial ? static_cast<T>(op_(*initial, combined)) : combined;
    };
    const bool has_result = taken_.ranks > 0 || initial;
    const bool replaced = has_result && me_.in_place;
    in.check(what + (replaced ? "" : ": operand"), [&](std::size_t i) {
      const bool is_result = replaced && i >= taken_.first && i - taken_.first < taken_.count;
      return is_result ? result(i - taken_.first) : operand<T, Op>(me_.seed, me_.rank, i);
    });
    if (!has_result || me_.in_place) return separate.check_untouched(what + ": another buffer");
    separate.check(what, result);
  }
  guarded_buffer<T> in;
  guarded_buffer<T> separate;
  std::optional<T> initial;  ///< of an exclusive scan

 private:
  participant me_;
  share taken_;
  Op op_;
};

// The classes for the most common element types are instantiated in cases.cpp, which is optimised: the tests
// are not, and would spend most of their time filling and comparing buffers.
#define CHORALE_TEST_MOVES(linkage, Element)      \
  linkage template class guarded_buffer<Element>; \
  linkage template class broadcast_case<Element>; \
  linkage template class gathered_case<Element>;  \
  linkage template class scatter_case<Element>;   \
  linkage template class alltoall_case<Element>;
#define CHORALE_TEST_CASES(linkage)                                     \
  linkage template class guarded_buffer<int>;                           \
  CHORALE_TEST_MOVES(linkage, std::byte)                                \
  CHORALE_TEST_MOVES(linkage, std::uint16_t)                            \
  CHORALE_TEST_MOVES(linkage, std::uint32_t)                            \
  CHORALE_TEST_MOVES(linkage, std::uint64_t)                            \
  linkage template class reduction_case<std::uint32_t, chorale::sum_t>; \
  linkage template class reduction_case<std::uint32_t, chorale::max_t>; \
  linkage template class reduction_case<std::uint64_t, chorale::sum_t>; \
  linkage template class reduction_case<triangle, multiply>;
CHORALE_TEST_CASES(extern)

}  // namespace collectives
