// SPDX-License-Identifier: Apache-2.0
// What each rank gives to a checked call and what the call must return, as functions of (seed, rank, index).
#pragma once

#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <chorale/core/operators.hpp>

namespace chorale::bench {

/// SplitMix64's output function.
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// A number that depends on all three, with no pattern.
constexpr std::uint64_t noise(std::uint64_t seed, int rank, std::size_t index) noexcept {
  return bench::mixed(seed ^ bench::mixed(static_cast<std::uint64_t>(rank) << 40 ^ index));
}

namespace detail {
template <class Element>
inline constexpr bool is_complex = false;
template <class Element>
inline constexpr bool is_complex<std::complex<Element>> = true;
}  // namespace detail

/// Element `index` of rank `rank` as an operand of `Op`. Floating-point values are such that sums of up to
/// 8,192 of them (64 of 16 bits) and products of up to 64 are exact, and therefore the same however they are
/// associated. A class has a static member function `operand` with these arguments.
template <class Element, class Op = sum_t>
Element operand(std::uint64_t seed, int rank, std::size_t index) {
  const std::uint64_t n = bench::noise(seed, rank, index);
  if constexpr (std::same_as<Element, bool>) {
    return n % 8 != 0;
  } else if constexpr (std::same_as<Element, std::byte>) {
    return static_cast<std::byte>(n);
  } else if constexpr (detail::is_complex<Element>) {
    using part = typename Element::value_type;
    // The four units, so that products are exact.
    constexpr int re[] = {1, 0, -1, 0};
    if constexpr (std::same_as<Op, prod_t>)
      return {static_cast<part>(re[n % 4]), static_cast<part>(re[(n + 1) % 4])};
    return {bench::operand<part>(seed, rank, index), bench::operand<part>(seed + 1, rank, index)};
  } else if constexpr (floating<Element> && sizeof(Element) == 2) {
    // Sums of 64 have 8 bits, the products of as many are at most 2^8.
    if constexpr (std::same_as<Op, prod_t>)
      return static_cast<Element>((n % 2 == 0 ? 1.0F : -1.0F) * (rank % 8 == 1 ? 2.0F : 1.0F));
    return static_cast<Element>(static_cast<float>(n % 5) - 2.0F);
  } else if constexpr (std::floating_point<Element>) {
    constexpr Element powers[] = {Element(1), Element(-2), Element(2), Element(-0.5)};
    if constexpr (std::same_as<Op, prod_t>) return powers[n % 4];
    return static_cast<Element>(static_cast<std::int64_t>(n % 4001) - 2000) / Element(8);
  } else if constexpr (std::integral<Element>) {
    return static_cast<Element>(n);
  } else {
    return Element::operand(seed, rank, index);
  }
}

/// Element `index` of the block that rank `from` has for rank `to`.
template <class Element>
Element letter(std::uint64_t seed, int from, int to, std::size_t index) {
  return bench::operand<Element>(seed + bench::mixed(static_cast<std::uint64_t>(to)), from, index);
}

/// `op(left, right)` as the C++ language computes it, without the library's operators; user-defined operators
/// are called.
template <class Element, class Op>
Element reference(const Element& left, const Element& right, const Op& op) {
  if constexpr (detail::is_complex<Element>) {
    if constexpr (std::same_as<Op, sum_t>)
      return {left.real() + right.real(), left.imag() + right.imag()};
    else
      return {left.real() * right.real() - left.imag() * right.imag(),
              left.real() * right.imag() + left.imag() * right.real()};
  } else if constexpr (std::is_arithmetic_v<Element> || floating<Element>) {
    if constexpr (std::same_as<Op, sum_t> || std::same_as<Op, prod_t>) {
      constexpr bool sum = std::same_as<Op, sum_t>;
      if constexpr (floating<Element>) return sum ? left + right : left * right;
      // The low bits of a sum or product do not depend on the width or the sign.
      const auto l = static_cast<std::uint64_t>(left);
      const auto r = static_cast<std::uint64_t>(right);
      return static_cast<Element>(sum ? l + r : l * r);
    } else if constexpr (std::same_as<Op, min_t>) {
      return left < right ? left : right;
    } else if constexpr (std::same_as<Op, max_t>) {
      return left > right ? left : right;
    } else if constexpr (std::same_as<Op, logical_and_t>) {
      return static_cast<Element>(left && right);
    } else if constexpr (std::same_as<Op, logical_or_t>) {
      return static_cast<Element>(left || right);
    } else if constexpr (std::same_as<Op, logical_xor_t>) {
      return static_cast<Element>(!left != !right);
    } else if constexpr (std::same_as<Op, bitwise_and_t>) {
      return static_cast<Element>(left & right);
    } else if constexpr (std::same_as<Op, bitwise_or_t>) {
      return static_cast<Element>(left | right);
    } else if constexpr (std::same_as<Op, bitwise_xor_t>) {
      return static_cast<Element>(left ^ right);
    } else {
      return op(left, right);
    }
  } else {
    return op(left, right);
  }
}

/// Element `index` of the reduction over `ranks` ranks: folded from rank 0 upwards.
template <class Element, class Op>
Element expected_reduction(std::uint64_t seed, int ranks, std::size_t index, const Op& op) {
  Element result = bench::operand<Element, Op>(seed, 0, index);
  for (int r = 1; r < ranks; ++r)
    result = bench::reference(result, bench::operand<Element, Op>(seed, r, index), op);
  return result;
}

}  // namespace chorale::bench
