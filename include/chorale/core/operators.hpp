// The operators of reductions: function objects, as those of <functional>, with nothing left to the platform.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>

#include <chorale/core/combine.hpp>
#include <chorale/core/types.hpp>

namespace chorale {

namespace detail {
/// The types whose operators are the language's own.
template <class T>
concept arithmetic = std::is_arithmetic_v<T> || floating<T>;
template <class T>
concept number = arithmetic<T> && !std::same_as<T, bool>;

/// The unsigned type in which T's arithmetic wraps and is not promoted to a signed `int` that overflows.
template <std::integral T>
using wrapping = typename std::conditional_t<(sizeof(T) < sizeof(unsigned)), std::type_identity<unsigned>,
                                             std::make_unsigned<T>>::type;
}  // namespace detail

/// a + b: integers wrap modulo 2^bits, the signed ones too (two's complement); user types by their operator+.
struct sum_t {
  template <detail::number T>
  constexpr T operator()(const T& a, const T& b) const noexcept {
    if constexpr (std::integral<T>) {
      using wide = detail::wrapping<T>;
      return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
    } else {
      return a + b;
    }
  }
  template <class T>
  requires(!detail::arithmetic<T>) && requires(const T& a, const T& b) {
    { a + b } -> std::convertible_to<T>;
  }
  constexpr T operator()(const T& a, const T& b) const { return a + b; }
};

/// a * b: integers wrap modulo 2^bits, the signed ones too (two's complement); user types by their operator*.
struct prod_t {
  template <detail::number T>
  constexpr T operator()(const T& a, const T& b) const noexcept {
    if constexpr (std::integral<T>) {
      using wide = detail::wrapping<T>;
      return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b));
    } else {
      return a * b;
    }
  }
  template <class T>
  requires(!detail::arithmetic<T>) && requires(const T& a, const T& b) {
    { a* b } -> std::convertible_to<T>;
  }
  constexpr T operator()(const T& a, const T& b) const { return a * b; }
};

/// The smaller by operator<; of equal ones the left, that is the lower rank's. Floating: NaN if either is
/// NaN; -0 and +0 are equal.
struct min_t {
  template <class T>
  requires requires(const T& a, const T& b) {
    { b < a } -> std::convertible_to<bool>;
  }
  constexpr T operator()(const T& a, const T& b) const {
    if constexpr (floating<T>)
      return ((b < a) | (b != b)) ? b : a;
    else
      return b < a ? b : a;
  }
};

/// The larger by operator<; of equal ones the left, that is the lower rank's. Floating: NaN if either is NaN;
/// -0 and +0 are equal.
struct max_t {
  template <class T>
  requires requires(const T& a, const T& b) {
    { a < b } -> std::convertible_to<bool>;
  }
  constexpr T operator()(const T& a, const T& b) const {
    if constexpr (floating<T>)
      return ((a < b) | (b != b)) ? b : a;
    else
      return a < b ? b : a;
  }
};

/// a && b, as 0 or 1, for integers and bool; user types by their operator&&.
struct logical_and_t {
  template <std::integral T>
  constexpr T operator()(const T& a, const T& b) const noexcept {
    return static_cast<T>((a != T{}) & (b != T{}));
  }
  template <class T>
  requires(!detail::arithmetic<T>) && requires(const T& a, const T& b) {
    { a&& b } -> std::convertible_to<T>;
  }
  constexpr T operator()(const T& a, const T& b) const { return a && b; }
};

/// a || b, as 0 or 1, for integers and bool; user types by their operator||.
struct logical_or_t {
  template <std::integral T>
  constexpr T operator()(const T& a, const T& b) const noexcept {
    return static_cast<T>((a != T{}) | (b != T{}));
  }
  template <class T>
  requires(!detail::arithmetic<T>) && requires(const T& a, const T& b) {
    { a || b } -> std::convertible_to<T>;
  }
  constexpr T operator()(const T& a, const T& b) const { return a || b; }
};

/// 1 where exactly one of a and b is not 0, else 0, for integers and bool. (No C++ operator stands for it.)
struct logical_xor_t {
  template <std::integral T>
  constexpr T operator()(const T& a, const T& b) const noexcept {
    return static_cast<T>((a != T{}) != (b != T{}));
  }
};

/// a & b for integers and bool; std::byte and user types by their operator&.
struct bitwise_and_t {
  template <std::integral T>
  constexpr T operator()(const T& a, const T& b) const noexcept {
    return static_cast<T>(a & b);
  }
  template <class T>
  requires(!detail::arithmetic<T>) && requires(const T& a, const T& b) {
    { a& b } -> std::convertible_to<T>;
  }
  constexpr T operator()(const T& a, const T& b) const { return a & b; }
};

/// a | b for integers and bool; std::byte and user types by their operator|.
struct bitwise_or_t {
  template <std::integral T>
  constexpr T operator()(const T& a, const T& b) const noexcept {
    return static_cast<T>(a | b);
  }
  template <class T>
  requires(!detail::arithmetic<T>) && requires(const T& a, const T& b) {
    { a | b } -> std::convertible_to<T>;
  }
  constexpr T operator()(const T& a, const T& b) const { return a | b; }
};

/// a ^ b for integers and bool; std::byte and user types by their operator^.
struct bitwise_xor_t {
  template <std::integral T>
  constexpr T operator()(const T& a, const T& b) const noexcept {
    return static_cast<T>(a ^ b);
  }
  template <class T>
  requires(!detail::arithmetic<T>) && requires(const T& a, const T& b) {
    { a ^ b } -> std::convertible_to<T>;
  }
  constexpr T operator()(const T& a, const T& b) const { return a ^ b; }
};

inline constexpr sum_t sum{};
inline constexpr prod_t prod{};
inline constexpr min_t min{};
inline constexpr max_t max{};
inline constexpr logical_and_t logical_and{};
inline constexpr logical_or_t logical_or{};
inline constexpr logical_xor_t logical_xor{};
inline constexpr bitwise_and_t bitwise_and{};
inline constexpr bitwise_or_t bitwise_or{};
inline constexpr bitwise_xor_t bitwise_xor{};

namespace detail {
/// Names by tag.
inline constexpr const char* operator_names[] = {"no operator", "sum",         "prod",       "min",
                                                 "max",         "logical_and", "logical_or", "logical_xor",
                                                 "bitwise_and", "bitwise_or",  "bitwise_xor"};

template <class Op>
inline constexpr std::uint32_t builtin_tag = 0;
template <>
inline constexpr std::uint32_t builtin_tag<sum_t> = 1;
template <>
inline constexpr std::uint32_t builtin_tag<prod_t> = 2;
template <>
inline constexpr std::uint32_t builtin_tag<min_t> = 3;
template <>
inline constexpr std::uint32_t builtin_tag<max_t> = 4;
template <>
inline constexpr std::uint32_t builtin_tag<logical_and_t> = 5;
template <>
inline constexpr std::uint32_t builtin_tag<logical_or_t> = 6;
template <>
inline constexpr std::uint32_t builtin_tag<logical_xor_t> = 7;
template <>
inline constexpr std::uint32_t builtin_tag<bitwise_and_t> = 8;
template <>
inline constexpr std::uint32_t builtin_tag<bitwise_or_t> = 9;
template <>
inline constexpr std::uint32_t builtin_tag<bitwise_xor_t> = 10;
}  // namespace detail

/// The tag of an operator in the signature of a call. The ten above have fixed tags. Any other has one made
/// of its type's size and name: equal in ranks that run the same binary. Two lambdas written alike are two
/// types: give the operator a name and let every rank use that.
template <class Op>
[[nodiscard]] constexpr std::uint32_t operator_tag() noexcept {
  using plain = std::remove_cvref_t<Op>;
  if constexpr (detail::builtin_tag<plain> != 0)
    return detail::builtin_tag<plain>;
  else
    return 0x8000'0000U |
           (detail::hash(detail::spelling<plain>()) ^ static_cast<std::uint32_t>(sizeof(plain)));
}

/// An operator's tag in words, for messages: "sum", "user operator"; 0 is "no operator".
[[nodiscard]] inline std::string describe_operator(std::uint32_t tag) {
  return tag < std::size(detail::operator_names) ? detail::operator_names[tag] : "user operator";
}

}  // namespace chorale
