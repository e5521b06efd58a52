// SPDX-License-Identifier: Apache-2.0
// The arguments of a window's operations: ranges and values of its elements, or one readable error, and what
// may stand for a rank or an operator.
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include <chorale/calls/element_number.hpp>
#include <chorale/core/types.hpp>

namespace chorale {

/// The type of `any_rank`.
struct any_rank_t {
  explicit any_rank_t() = default;
};
/// Passed as `origin`: notifications from any rank.
inline constexpr any_rank_t any_rank{};

/// Returns its second operand, `b`; `window::fetch_and_op` with it is an atomic exchange.
struct replace_t {
  /// `b`.
  template <class Element>
  constexpr Element operator()(const Element&, const Element& b) const noexcept {
    return b;
  }
};
inline constexpr replace_t replace{};  ///< Replaces a value.

}  // namespace chorale

namespace chorale::calls {

namespace window_argument {

template <class Range>
concept contiguous = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range>;

/// The element type of Range, with its const; void if Range is not contiguous.
template <class Range>
struct pointed_at : std::type_identity<void> {};
template <class Range>
requires contiguous<Range&> struct pointed_at<Range>
    : std::type_identity<std::remove_reference_t<decltype(*std::ranges::data(std::declval<Range&>()))>> {};
template <class Range>
using element_at = typename pointed_at<std::remove_reference_t<Range>>::type;

/// The element type of a window over a range, where the program names none.
template <class Range>
struct exposed {
  static constexpr bool is_range = contiguous<std::remove_reference_t<Range>&>;
  static_assert(is_range,
                "chorale::window: of a number of elements their type has to be named, as in "
                "comm.make_window<double>(n); a window over memory takes a contiguous range");
  using element = std::conditional_t<is_range, std::remove_const_t<element_at<Range>>, std::byte>;
};

/// True if the memory of an argument of this type outlives the statement.
template <class Range>
inline constexpr bool lasts =
    std::is_lvalue_reference_v<Range> || std::ranges::enable_borrowed_range<std::remove_cvref_t<Range>>;

/// Whether Range is a range of elements of type Element; a static_assert says in one line why not.
template <class Element, class Range>
constexpr bool is_range_of() {
  using plain = std::remove_reference_t<Range>;
  if constexpr (std::integral<std::remove_const_t<plain>>) {
    static_assert(!std::integral<std::remove_const_t<plain>>,
                  "chorale::window: a number is neither a range nor a variable of the window's elements; "
                  "get_n(target, offset, count) returns a number of them");
    return false;
  } else if constexpr (!contiguous<plain&>) {
    static_assert(contiguous<plain&>,
                  "chorale::window: this argument is no contiguous range of the window's elements: pass a "
                  "std::vector, std::array, std::span, C array or registered_array; is the order of the "
                  "arguments right?");
    return false;
  } else {
    constexpr bool fits = std::same_as<std::remove_const_t<element_at<Range>>, Element>;
    static_assert(fits, "chorale::window: the elements of this range are not those of the window");
    return fits;
  }
}

/// A single element, passed as a value that converts to Element.
template <class Value, class Element>
concept value_of = std::convertible_to<const Value&, Element> && !contiguous<const Value&>;

}  // namespace window_argument

/// The target rank of an operation, as an argument. Integer types that do not fit into an `int` are refused:
/// such a number is probably an offset or a notification id, which are the next arguments.
struct target_rank {
  template <class Integer>
  constexpr target_rank(Integer number) : value_(number_of(number)) {}  // implicit, as each operation has one
  constexpr operator int() const noexcept { return value_; }

 private:
  template <class Integer>
  static constexpr int number_of(Integer number) noexcept {
    constexpr bool is_rank =
        std::integral<Integer> && !std::same_as<Integer, bool> && calls::keeps_all_numbers<Integer, int>();
    static_assert(
        is_rank,
        "chorale::window: the rank of an operation is an int, as that of comm.rank(): convert it by "
        "static_cast<int>(r); is the order of the arguments right?");
    if constexpr (is_rank)
      return number;
    else
      return -1;
  }

  int value_;
};

/// Elements of type Element that an operation reads: a range, or `{}` for none. `Later`: they are read until
/// the next flush.
template <class Element, bool Later>
class window_source {
 public:
  constexpr window_source() = default;
  template <class Range>
  requires(!std::same_as<std::remove_cvref_t<Range>, window_source>)  //
  constexpr window_source(Range&& r)                                  // implicit, to accept any range
      : elements_(to_span<Range>(r)) {}
  [[nodiscard]] constexpr std::span<const Element> elements() const noexcept { return elements_; }

 private:
  template <class Range>
  static constexpr std::span<const Element> to_span(std::remove_reference_t<Range>& r) {
    if constexpr (!window_argument::is_range_of<Element, Range>()) {
      return {};
    } else {
      static_assert(!Later || window_argument::lasts<Range>,
                    "chorale::window: a put reads its source until the next flush, and this one is a "
                    "temporary: keep it in a variable");
      return {std::ranges::data(r), std::ranges::size(r)};
    }
  }

  std::span<const Element> elements_;
};

/// Elements of type Element that an operation writes, or that a window exposes.
template <class Element>
class window_target {
 public:
  template <class Range>
  requires(!std::same_as<std::remove_cvref_t<Range>, window_target>)  //
  constexpr window_target(Range&& r)                                  // implicit, to accept any range
      : elements_(to_span<Range>(r)) {}
  [[nodiscard]] constexpr std::span<Element> elements() const noexcept { return elements_; }

 private:
  template <class Range>
  static constexpr std::span<Element> to_span(std::remove_reference_t<Range>& r) {
    if constexpr (!window_argument::is_range_of<Element, Range>()) {
      return {};
    } else {
      constexpr bool writable = !std::is_const_v<window_argument::element_at<Range>>;
      static_assert(writable, "chorale::window: this range is to be written to, and is const");
      static_assert(window_argument::lasts<Range>,
                    "chorale::window: this range is to be written to, and is a temporary: the result would "
                    "be lost");
      if constexpr (writable)
        return {std::ranges::data(r), std::ranges::size(r)};
      else
        return {};
    }
  }

  std::span<Element> elements_;
};

}  // namespace chorale::calls
