// SPDX-License-Identifier: Apache-2.0
// The function objects of <functional> as operators of reductions.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>

#include <chorale/core/operators.hpp>

namespace chorale::detail {

/// For an operator type: the library's operator with the same meaning, the only operand type that it accepts,
/// and whether it may be associative; `void` means none.
template <class Op>
struct standard_object {
  using ours = void;
  using operand = void;
  static constexpr bool associative = true;
};
template <class Ours, class Operand>
struct means_the_same {
  using ours = Ours;
  using operand = Operand;
  static constexpr bool associative = true;
};
struct not_associative {
  using ours = void;
  using operand = void;
  static constexpr bool associative = false;
};
template <class Element>
struct standard_object<std::plus<Element>> : means_the_same<sum_t, Element> {};
template <class Element>
struct standard_object<std::multiplies<Element>> : means_the_same<prod_t, Element> {};
template <class Element>
struct standard_object<std::logical_and<Element>> : means_the_same<logical_and_t, Element> {};
template <class Element>
struct standard_object<std::logical_or<Element>> : means_the_same<logical_or_t, Element> {};
template <class Element>
struct standard_object<std::bit_and<Element>> : means_the_same<bitwise_and_t, Element> {};
template <class Element>
struct standard_object<std::bit_or<Element>> : means_the_same<bitwise_or_t, Element> {};
template <class Element>
struct standard_object<std::bit_xor<Element>> : means_the_same<bitwise_xor_t, Element> {};
template <class Element>
struct standard_object<std::minus<Element>> : not_associative {};
template <class Element>
struct standard_object<std::divides<Element>> : not_associative {};
template <class Element>
struct standard_object<std::modulus<Element>> : not_associative {};
template <class Element>
struct standard_object<std::less<Element>> : not_associative {};
template <class Element>
struct standard_object<std::less_equal<Element>> : not_associative {};
template <class Element>
struct standard_object<std::greater<Element>> : not_associative {};
template <class Element>
struct standard_object<std::greater_equal<Element>> : not_associative {};

/// The library's operator equivalent to Op; Op itself if there is none.
template <class Op>
using library_operator = std::conditional_t<std::is_void_v<typename standard_object<Op>::ours>, Op,
                                            typename standard_object<Op>::ours>;

template <class Op, class Element>
struct evaluation {
  using type = Op;
};
template <class Op, class Element>
requires(!std::same_as<library_operator<Op>, Op> &&
         std::is_invocable_r_v<Element, const library_operator<Op>&, const Element&, const Element&>)
struct evaluation<Op, Element> {
  using type = library_operator<Op>;
};
/// The operator evaluated for Op on elements of type Element: the library's equivalent, with which signed
/// integers wrap, if it accepts Element; otherwise Op itself (std::plus<> of bool, std::logical_and<> of
/// double).
template <class Op, class Element>
using evaluated_operator = typename evaluation<Op, Element>::type;

/// True unless Op is a function object of <functional> for a type other than Element (std::plus<int> would
/// truncate doubles), or one that is not associative (std::minus).
template <class Op, class Element>
concept not_misused_standard_object =
    standard_object<Op>::associative && (std::is_void_v<typename standard_object<Op>::operand> ||
                                         std::same_as<typename standard_object<Op>::operand, Element>);

}  // namespace chorale::detail
