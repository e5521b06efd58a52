// The function objects of <functional> as operators of reductions.
#pragma once

#include <concepts>
#include <type_traits>

#include <chorale/core/lean_functional.hpp>
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
template <class T>
struct standard_object<std::plus<T>> : means_the_same<sum_t, T> {};
template <class T>
struct standard_object<std::multiplies<T>> : means_the_same<prod_t, T> {};
template <class T>
struct standard_object<std::logical_and<T>> : means_the_same<logical_and_t, T> {};
template <class T>
struct standard_object<std::logical_or<T>> : means_the_same<logical_or_t, T> {};
template <class T>
struct standard_object<std::bit_and<T>> : means_the_same<bitwise_and_t, T> {};
template <class T>
struct standard_object<std::bit_or<T>> : means_the_same<bitwise_or_t, T> {};
template <class T>
struct standard_object<std::bit_xor<T>> : means_the_same<bitwise_xor_t, T> {};
template <class T>
struct standard_object<std::minus<T>> : not_associative {};
template <class T>
struct standard_object<std::divides<T>> : not_associative {};
template <class T>
struct standard_object<std::modulus<T>> : not_associative {};
template <class T>
struct standard_object<std::less<T>> : not_associative {};
template <class T>
struct standard_object<std::less_equal<T>> : not_associative {};
template <class T>
struct standard_object<std::greater<T>> : not_associative {};
template <class T>
struct standard_object<std::greater_equal<T>> : not_associative {};

/// The library's operator equivalent to Op; Op itself if there is none.
template <class Op>
using library_operator = std::conditional_t<std::is_void_v<typename standard_object<Op>::ours>, Op,
                                            typename standard_object<Op>::ours>;

template <class Op, class T>
struct evaluation {
  using type = Op;
};
template <class Op, class T>
requires(!std::same_as<library_operator<Op>, Op> &&
         std::is_invocable_r_v<T, const library_operator<Op>&, const T&, const T&>) struct evaluation<Op, T> {
  using type = library_operator<Op>;
};
/// The operator evaluated for Op on elements of T: the library's equivalent, with which signed integers wrap,
/// if it accepts T; otherwise Op itself (std::plus<> of bool, std::logical_and<> of double).
template <class Op, class T>
using evaluated_operator = typename evaluation<Op, T>::type;

/// True unless Op is a function object of <functional> for a type other than T (std::plus<int> would truncate
/// doubles), or one that is not associative (std::minus).
template <class Op, class T>
concept not_misused_standard_object =
    standard_object<Op>::associative && (std::is_void_v<typename standard_object<Op>::operand> ||
                                         std::same_as<typename standard_object<Op>::operand, T>);

}  // namespace chorale::detail
