// SPDX-License-Identifier: Apache-2.0
// Results that calls return: the blocks of all ranks in one vector.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/calls/caller.hpp>
#include <chorale/calls/operands.hpp>
#include <chorale/core/copy_bytes.hpp>

namespace chorale {

/// The blocks of all ranks, one after the other: `parts[r]` is the block of rank r.
template <class Element>
struct parts {
  std::vector<Element> data;         ///< the blocks of all ranks, in rank order
  std::vector<std::size_t> counts;   ///< elements of each rank
  std::vector<std::size_t> offsets;  ///< of each rank's block in `data`, in elements

  /// The block of that rank, from 0 to `size() - 1`, which lies in `data`.
  [[nodiscard]] std::span<Element> operator[](int rank) noexcept {
    const auto r = static_cast<std::size_t>(rank);
    return std::span{data}.subspan(offsets[r], counts[r]);
  }
  /// The same.
  [[nodiscard]] std::span<const Element> operator[](int rank) const noexcept {
    const auto r = static_cast<std::size_t>(rank);
    return std::span{data}.subspan(offsets[r], counts[r]);
  }
  /// The number of blocks: the number of ranks.
  [[nodiscard]] std::size_t size() const noexcept { return counts.size(); }
};

namespace calls {

/// A vector of `count` elements that a call can fill.
template <class Element>
std::vector<Element> made_room(std::size_t count) {
  static_assert(!std::same_as<Element, bool>,
                "chorale: a call cannot return elements of type bool, since std::vector<bool> has none: pass "
                "char or std::uint8_t, or the buffer that is to receive");
  static_assert(std::is_default_constructible_v<Element>,
                "chorale: a call cannot return elements that have no default constructor: pass the buffer "
                "that is to receive");
  if constexpr (!std::same_as<Element, bool> && std::is_default_constructible_v<Element>)
    return std::vector<Element>(count);
  else
    return {};
}

/// The same for a call of `comm`, which fails for lack of memory.
template <class Element, class Comm>
std::vector<Element> room_for(Comm& comm, std::size_t count) {
  return calls::or_fail(comm.transport(), [count] { return calls::made_room<Element>(count); });
}

/// Number of elements in a range, or 1 for a value.
template <class Range>
std::size_t count_of(const Range& r) {
  strides where;
  const input in = calls::read_spread(r, where);
  return in.bytes.size() / in.one;
}
/// The same for an operand of `what`, whose memory is checked: a call of several steps must refuse it before
/// the first of them.
template <class Caller, class Range>
std::size_t checked_count(const Caller& on, operation what, const Range& r) {
  strides where;
  const input in = calls::read_spread(r, where);
  on.arguments().check_memory(what, calls::all_memory(in, where));
  return in.bytes.size() / in.one;
}

/// Room for blocks of `counts` elements.
template <class Element, class Comm>
parts<Element> room_for_parts(Comm& comm, std::vector<std::size_t> counts) {
  parts<Element> made;
  made.offsets = calls::room_for<std::size_t>(comm, counts.size());
  std::size_t next = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    made.offsets[r] = next;
    next += counts[r];
  }
  made.counts = std::move(counts);
  made.data = calls::room_for<Element>(comm, next);
  return made;
}

/// The element type of a range of ranges, such as vector<vector<int>>; std::byte if Parts is not one.
template <class Parts>
struct part_type {
  static constexpr bool is_nested = false;
  using type = std::byte;
};
template <class Parts>
requires requires(const Parts& all) { requires argument::any_range<decltype(*std::begin(all))>; }
struct part_type<Parts> {
  static constexpr bool is_nested = true;
  using type = argument::element_of<decltype(*std::begin(std::declval<const Parts&>()))>;
};

/// Copies the blocks of a range of ranges, an operand of `what`, into one vector, or reports one readable
/// error.
template <class Comm, class Caller, class Parts, class Element = typename part_type<Parts>::type>
parts<Element> flatten(Comm& comm, const Caller& on, operation what, const Parts& all) {
  static_assert(part_type<Parts>::is_nested,
                "chorale: what this call takes is a range of ranges, one for each rank, such as "
                "std::vector<std::vector<int>>");
  if constexpr (part_type<Parts>::is_nested) {
    auto counts = calls::or_fail(comm.transport(), [&] {
      std::vector<std::size_t> of;
      for (const auto& one : all) of.push_back(calls::checked_count(on, what, one));
      return of;
    });
    parts<Element> made = calls::room_for_parts<Element>(comm, std::move(counts));
    int rank = 0;
    for (const auto& one : all) {
      const input from = calls::read(one);
      if (!from.bytes.empty())
        copy_bytes(static_cast<void*>(made[rank].data()), from.bytes.data(), from.bytes.size());
      ++rank;
    }
    return made;
  } else {
    return {};
  }
}

}  // namespace calls
}  // namespace chorale
