// SPDX-License-Identifier: Apache-2.0
// The arguments of calls: erases the element types of ranges and values, or reports one readable error.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <chorale/core/arguments.hpp>
#include <chorale/core/elements.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/core/strided.hpp>
#include <chorale/core/types.hpp>

namespace chorale::calls {

/// What a call reads, type-erased.
struct input {
  std::span<const std::byte> bytes;
  std::size_t one = 1;       ///< bytes of an element
  std::uint32_t type = 0;    ///< `type_tag`
  bool is_in_place = false;  ///< the data are in the output buffer already
};
/// What a call writes, type-erased.
struct output {
  std::span<std::byte> bytes;
  std::size_t one = 1;
  std::uint32_t type = 0;
  bool is_in_place = false;
  [[nodiscard]] input as_input() const noexcept { return {bytes, one, type}; }
};

namespace argument {

/// Any range, whether or not it can be an operand; everything else is a single value.
template <class Range>
concept any_range = std::is_array_v<std::remove_cvref_t<Range>> || requires(Range& r) { std::begin(r); };
template <class Range>
concept good_range = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range>;

/// A placeholder: `in_place` or `nothing`.
template <class Range>
inline constexpr bool is_word = std::same_as<std::remove_cvref_t<Range>, in_place_t> ||
                                std::same_as<std::remove_cvref_t<Range>, nothing_t>;

/// Whether Range has elements whose size is known only at run time.
template <class Range>
inline constexpr bool is_elements = false;
template <class Byte>
inline constexpr bool is_elements<elements<Byte>> = true;

template <class Range>
struct element_type : std::type_identity<std::remove_cvref_t<Range>> {};
template <class Range>
requires good_range<Range&> struct element_type<Range>
    : std::type_identity<
          std::remove_cv_t<std::remove_reference_t<decltype(*std::ranges::data(std::declval<Range&>()))>>> {};
template <class View>
requires strided_operand<std::remove_cv_t<View>> struct element_type<View>
    : std::remove_cv<std::remove_pointer_t<decltype(detail::as_strided(std::declval<View&>()).data())>> {};
/// The type of the elements of a range, or of a value.
template <class Range>
using element_of = typename element_type<std::remove_reference_t<Range>>::type;

/// A type that is not a range but has the interface of a view: mdspan, a view of Kokkos, a map of Eigen.
template <class Type>
concept is_view =
    std::is_trivially_copyable_v<Type> &&
    (
        requires(const Type& view) { view.data(); } || requires(const Type& view) { view.data_handle(); });

/// Whether Range can be an operand; a static_assert says in one line why not.
template <class Range>
constexpr bool is_operand() {
  using plain = std::remove_cvref_t<Range>;
  if constexpr (is_word<Range> || is_elements<plain>) {
    return true;
  } else if constexpr (std::is_pointer_v<plain>) {
    static_assert(!std::is_pointer_v<plain>,
                  "chorale: a pointer does not say how many elements there are: pass the container, or "
                  "std::span{pointer, count}");
    return false;
  } else if constexpr (any_range<Range> && !good_range<std::remove_reference_t<Range>&>) {
    static_assert(good_range<std::remove_reference_t<Range>&>,
                  "chorale: the elements of this range are not contiguous in memory: pass a std::vector, "
                  "std::array, std::span, C array or registered_array (std::list, std::deque, "
                  "std::vector<bool> and most views are not contiguous)");
    return false;
  } else if constexpr (!element<element_of<Range>> && is_view<element_of<Range>>) {
    static_assert(!is_view<element_of<Range>>,
                  "chorale: this object refers to elements elsewhere and is no contiguous range: pass "
                  "std::span{x.data(), n}, or copy what is not contiguous to a buffer");
    return false;
  } else if constexpr (!element<element_of<Range>>) {
    static_assert(element<element_of<Range>>,
                  "chorale: values of this type cannot be sent as bytes: an element is a number, or a "
                  "trivially copyable aggregate (struct) without pointers; another class whose bytes are its "
                  "value opts in by chorale::enable_element<T>");
    return false;
  } else {
    return true;
  }
}

/// True if the memory of an argument of this type outlives the statement that contains the call.
template <class Range>
inline constexpr bool lasts =
    std::is_lvalue_reference_v<Range> || std::ranges::enable_borrowed_range<std::remove_cvref_t<Range>> ||
    is_word<Range> || is_elements<std::remove_cvref_t<Range>> || strided_operand<std::remove_cvref_t<Range>>;

/// Whether Range can receive data; a static_assert says in one line why not.
template <class Range>
constexpr bool can_receive() {
  if constexpr (!calls::argument::is_operand<Range>()) {
    return false;
  } else if constexpr (!lasts<Range>) {
    static_assert(lasts<Range>,
                  "chorale: what a call receives would be lost: this argument is a temporary; is the order "
                  "of the arguments right?");
    return false;
  } else {
    constexpr bool writable = [] {
      using plain = std::remove_reference_t<Range>;
      if constexpr (is_word<Range>)
        return true;
      else if constexpr (is_elements<std::remove_cvref_t<Range>>)
        return !std::same_as<std::remove_cvref_t<Range>, elements<const std::byte>>;
      else if constexpr (any_range<Range>)
        return !std::is_const_v<
            std::remove_reference_t<decltype(*std::ranges::data(std::declval<plain&>()))>>;
      else
        return !std::is_const_v<plain>;
    }();
    static_assert(writable, "chorale: this argument is to receive and is const");
    return writable;
  }
}

/// The elements of a range. @throws error errc::invalid_argument if their size in bytes overflows.
template <class Range>
auto counted(Range& r) {
  const std::span all{std::ranges::data(r), std::ranges::size(r)};
  constexpr std::size_t one = sizeof(element_of<Range>);
  if (all.size() > static_cast<std::size_t>(-1) / one) [[unlikely]]
    chorale::detail::bytes_of_elements(all.size(), one);
  return all;
}

}  // namespace argument

/// A buffer, as opposed to a value, an operator or a number.
template <class Range>
concept buffer =
    argument::any_range<Range> || argument::is_word<Range> ||
    argument::is_elements<std::remove_cvref_t<Range>> || strided_operand<std::remove_cvref_t<Range>> ||
    (std::is_pointer_v<std::remove_cvref_t<Range>> &&
     !std::is_function_v<std::remove_pointer_t<std::remove_cvref_t<Range>>>);

/// True unless the argument is a root, which takes its place in the form that returns the result.
template <class Argument>
concept no_root = !std::same_as<std::remove_cvref_t<Argument>, root>;

/// Stands for an omitted operator.
struct no_operator {};

namespace argument {
/// Whether a call can return its result for an operand of this type; a static_assert says in one line why
/// not.
template <class Element>
constexpr bool is_single_value() {
  static_assert(!buffer<Element>,
                "chorale: the form that returns its result combines single values: give a range an output, "
                "allreduce(in, out, op), or combine it in place, allreduce(chorale::in_place, data, op)");
  return !buffer<Element>;
}
}  // namespace argument

/// Erases the type of an argument that a call reads: a range, a value, `in_place` or `nothing`.
template <class Range>
input read(const Range& r) {
  if constexpr (argument::is_operand<const Range&>()) {
    if constexpr (std::same_as<Range, in_place_t>) {
      return {.bytes = {}, .is_in_place = true};
    } else if constexpr (std::same_as<Range, nothing_t>) {
      return {};
    } else if constexpr (argument::is_elements<Range>) {
      return {r.bytes(), r.element_bytes(), r.type()};
    } else {
      using Element = argument::element_of<const Range>;
      if constexpr (argument::any_range<const Range>)
        return {std::as_bytes(argument::counted(r)), sizeof(Element), chorale::type_tag<Element>()};
      else
        return {std::as_bytes(std::span{std::addressof(r), 1}), sizeof(Element),
                chorale::type_tag<Element>()};
    }
  } else {
    return {};
  }
}

/// The same for an argument of type `Range&&` of a nonblocking call or a plan, which reads it after the
/// statement.
template <class Range>
input lasting_input(const std::remove_reference_t<Range>& r) {
  static_assert(argument::lasts<Range>,
                "chorale: a nonblocking call reads its argument until its request is over, a plan at each "
                "start, and this one is a temporary: keep it in a variable");
  return calls::read(r);
}

/// Erases the type of an argument `Range&&` that a call writes: a range, a variable, `in_place` or `nothing`.
template <class Range>
output written(std::remove_reference_t<Range>& r) {
  using plain = std::remove_cvref_t<Range>;
  if constexpr (argument::can_receive<Range>()) {
    if constexpr (std::same_as<plain, in_place_t>) {
      return {.bytes = {}, .is_in_place = true};
    } else if constexpr (std::same_as<plain, nothing_t>) {
      return {};
    } else if constexpr (argument::is_elements<plain>) {
      return {r.bytes(), r.element_bytes(), r.type()};
    } else {
      using Element = argument::element_of<Range>;
      if constexpr (argument::any_range<Range>)
        return {std::as_writable_bytes(argument::counted(r)), sizeof(Element), chorale::type_tag<Element>()};
      else
        return {std::as_writable_bytes(std::span{std::addressof(r), 1}), sizeof(Element),
                chorale::type_tag<Element>()};
    }
  } else {
    return {};
  }
}

/// A type-erased operator with its tag.
struct named_reduction {
  reduction op;
  std::uint32_t tag = 0;
};

namespace argument {
/// Bytes of an element of `r` if known at run time, else `other`.
template <class Range>
std::size_t bytes_of_one(const Range& r, std::size_t other) {
  if constexpr (is_elements<Range>)
    return r.element_bytes();
  else
    return other;
}

/// Whether Op can reduce elements of type Element; a static_assert says in one line why not.
template <class Element, class Op>
constexpr bool is_operator_for() {
  if constexpr (std::same_as<Op, no_operator>) {
    static_assert(!std::same_as<Op, no_operator>,
                  "chorale: the operator is missing, such as chorale::sum: it comes after both buffers, "
                  "iallreduce(in, out, op), or in place iallreduce(chorale::in_place, data, op)");
    return false;
  } else if constexpr (std::integral<Op> || !no_root<Op>) {
    static_assert(!std::integral<Op> && no_root<Op>,
                  "chorale: a number stands where an operator is expected: the root of a reduce comes "
                  "after the operator, as in reduce(in, out, chorale::sum, chorale::root{2})");
    return false;
  } else if constexpr (!std::copy_constructible<Op>) {
    static_assert(std::copy_constructible<Op>, "chorale: an operator is copied, and this one cannot be");
    return false;
  } else if constexpr (!detail::not_misused_standard_object<Op, Element>) {
    static_assert(
        detail::not_misused_standard_object<Op, Element>,
        "chorale: this function object of <functional> is not associative, as std::minus, or is for "
        "another type than that of the elements, as std::plus<int> for double: use std::plus<>");
    return false;
  } else {
    static_assert(reduction_operator<Op, Element>,
                  "chorale: the operator does not combine two of these elements into one: it is called as "
                  "op(const T&, const T&) on a const object and gives what converts to T");
    return reduction_operator<Op, Element>;
  }
}
}  // namespace argument

}  // namespace chorale::calls
