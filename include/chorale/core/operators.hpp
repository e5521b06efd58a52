// SPDX-License-Identifier: Apache-2.0
// The operators of reductions: function objects as in <functional>, without platform-dependent behavior.
#pragma once

#include <concepts>
#include <type_traits>

#include <chorale/core/types.hpp>

namespace chorale {

namespace detail {
/// std::integral, and __int128 even where the standard library does not count it as an integer (-std=c++20):
/// all ranks must evaluate it in the same way.
template <class Element>
concept integer =
    std::integral<Element> || std::same_as<Element, widest_integer> || std::same_as<Element, widest_unsigned>;
/// The types that the language's own operators work on.
template <class Element>
concept arithmetic = integer<Element> || floating<Element>;
template <class Element>
concept number = arithmetic<Element> && !std::same_as<Element, bool>;

/// The unsigned type in which arithmetic on Element wraps, and which is not promoted to a signed `int` that
/// overflows.
template <integer Element>
using wrapping = typename std::conditional_t<
    (sizeof(Element) < sizeof(unsigned)), std::type_identity<unsigned>,
    std::conditional_t<sizeof(Element) == sizeof(widest_unsigned), std::type_identity<widest_unsigned>,
                       std::make_unsigned<Element>>>::type;

/// Complex numbers of floating-point parts.
template <class Element>
concept adds_by_parts =
    complex_number<Element> && floating<typename Element::value_type> &&
    std::constructible_from<Element, typename Element::value_type, typename Element::value_type>;

/// The right operand of a floating-point sum or product: `a` if it is NaN, so that the result is `a`. Of two
/// different NaNs a processor keeps the first operand's, and the compiler may choose which operand is first.
template <floating Element>
constexpr Element right_of(Element a, Element b) noexcept {
  return a != a ? a : b;
}
}  // namespace detail

/// a + b: integers wrap modulo 2^bits, also signed ones (two's complement); of two NaNs, the left one;
/// complex numbers part by part; user types by their operator+.
struct sum_t {
  template <detail::number Element>
  constexpr Element operator()(const Element& a, const Element& b) const noexcept {
    if constexpr (detail::integer<Element>) {
      using wide = detail::wrapping<Element>;
      return static_cast<Element>(static_cast<wide>(a) + static_cast<wide>(b));
    } else {
      return a + detail::right_of(a, b);
    }
  }
  template <detail::adds_by_parts Element>
  constexpr Element operator()(const Element& a, const Element& b) const {
    return Element(a.real() + detail::right_of<typename Element::value_type>(a.real(), b.real()),
                   a.imag() + detail::right_of<typename Element::value_type>(a.imag(), b.imag()));
  }
  template <class Element>
  requires(!detail::arithmetic<Element> && !detail::adds_by_parts<Element>) &&
          requires(const Element& a, const Element& b) {
            { a + b } -> std::convertible_to<Element>;
          }
  constexpr Element operator()(const Element& a, const Element& b) const {
    return a + b;
  }
};

/// a * b: integers wrap modulo 2^bits, also signed ones (two's complement); of two NaNs, the left one; user
/// types by their operator*.
struct prod_t {
  template <detail::number Element>
  constexpr Element operator()(const Element& a, const Element& b) const noexcept {
    if constexpr (detail::integer<Element>) {
      using wide = detail::wrapping<Element>;
      return static_cast<Element>(static_cast<wide>(a) * static_cast<wide>(b));
    } else {
      return a * detail::right_of(a, b);
    }
  }
  template <class Element>
  requires(!detail::arithmetic<Element>) && requires(const Element& a, const Element& b) {
    { a* b } -> std::convertible_to<Element>;
  } constexpr Element operator()(const Element& a, const Element& b) const {
    return a * b;
  }
};

/// The smaller operand by operator<; if equal, the left one, that is the lower rank's. Floating point: NaN if
/// either is NaN; -0 and +0 are equal.
struct min_t {
  template <class Element>
  requires requires(const Element& a, const Element& b) {
    { b < a } -> std::convertible_to<bool>;
  } constexpr Element operator()(const Element& a, const Element& b) const {
    if constexpr (floating<Element>)
      return ((b < a) | (b != b)) ? b : a;
    else
      return b < a ? b : a;
  }
};

/// The larger operand by operator<; if equal, the left one, that is the lower rank's. Floating point: NaN if
/// either is NaN; -0 and +0 are equal.
struct max_t {
  template <class Element>
  requires requires(const Element& a, const Element& b) {
    { a < b } -> std::convertible_to<bool>;
  } constexpr Element operator()(const Element& a, const Element& b) const {
    if constexpr (floating<Element>)
      return ((a < b) | (b != b)) ? b : a;
    else
      return a < b ? b : a;
  }
};

/// a && b, as 0 or 1, for integers and bool; user types by their operator&&.
struct logical_and_t {
  template <detail::integer Element>
  constexpr Element operator()(const Element& a, const Element& b) const noexcept {
    return static_cast<Element>((a != Element{}) & (b != Element{}));
  }
  template <class Element>
  requires(!detail::arithmetic<Element>) && requires(const Element& a, const Element& b) {
    { a&& b } -> std::convertible_to<Element>;
  } constexpr Element operator()(const Element& a, const Element& b) const {
    return a && b;
  }
};

/// a || b, as 0 or 1, for integers and bool; user types by their operator||.
struct logical_or_t {
  template <detail::integer Element>
  constexpr Element operator()(const Element& a, const Element& b) const noexcept {
    return static_cast<Element>((a != Element{}) | (b != Element{}));
  }
  template <class Element>
  requires(!detail::arithmetic<Element>) && requires(const Element& a, const Element& b) {
    { a || b } -> std::convertible_to<Element>;
  } constexpr Element operator()(const Element& a, const Element& b) const {
    return a || b;
  }
};

/// 1 if exactly one of a and b is not 0, else 0, for integers and bool. (C++ has no such operator.)
struct logical_xor_t {
  template <detail::integer Element>
  constexpr Element operator()(const Element& a, const Element& b) const noexcept {
    return static_cast<Element>((a != Element{}) != (b != Element{}));
  }
};

/// a & b for integers and bool; std::byte and user types by their operator&.
struct bitwise_and_t {
  template <detail::integer Element>
  constexpr Element operator()(const Element& a, const Element& b) const noexcept {
    return static_cast<Element>(a & b);
  }
  template <class Element>
  requires(!detail::arithmetic<Element>) && requires(const Element& a, const Element& b) {
    { a& b } -> std::convertible_to<Element>;
  } constexpr Element operator()(const Element& a, const Element& b) const {
    return a & b;
  }
};

/// a | b for integers and bool; std::byte and user types by their operator|.
struct bitwise_or_t {
  template <detail::integer Element>
  constexpr Element operator()(const Element& a, const Element& b) const noexcept {
    return static_cast<Element>(a | b);
  }
  template <class Element>
  requires(!detail::arithmetic<Element>) && requires(const Element& a, const Element& b) {
    { a | b } -> std::convertible_to<Element>;
  } constexpr Element operator()(const Element& a, const Element& b) const {
    return a | b;
  }
};

/// a ^ b for integers and bool; std::byte and user types by their operator^.
struct bitwise_xor_t {
  template <detail::integer Element>
  constexpr Element operator()(const Element& a, const Element& b) const noexcept {
    return static_cast<Element>(a ^ b);
  }
  template <class Element>
  requires(!detail::arithmetic<Element>) && requires(const Element& a, const Element& b) {
    { a ^ b } -> std::convertible_to<Element>;
  } constexpr Element operator()(const Element& a, const Element& b) const {
    return a ^ b;
  }
};

inline constexpr sum_t sum{};                  ///< a + b
inline constexpr prod_t prod{};                ///< a * b
inline constexpr min_t min{};                  ///< the smaller one
inline constexpr max_t max{};                  ///< the larger one
inline constexpr logical_and_t logical_and{};  ///< a and b, as truth values
inline constexpr logical_or_t logical_or{};    ///< a or b, as truth values
inline constexpr logical_xor_t logical_xor{};  ///< either a or b, as truth values
inline constexpr bitwise_and_t bitwise_and{};  ///< a & b, bit by bit
inline constexpr bitwise_or_t bitwise_or{};    ///< a | b, bit by bit
inline constexpr bitwise_xor_t bitwise_xor{};  ///< a ^ b, bit by bit

}  // namespace chorale
