// The operands of each rank in a collective, as a function of (seed, rank, index), and the expected results.
#pragma once

#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <chorale/core/operators.hpp>

#include "element_types.hpp"

namespace collectives {

/// SplitMix64's output function.
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

constexpr std::uint64_t noise(std::uint64_t seed, int rank, std::size_t index) noexcept {
  return mixed(seed ^ mixed(static_cast<std::uint64_t>(rank) << 40 ^ index));
}

constexpr triangle matrix_from(std::uint64_t n) noexcept {
  return {n % triangle::modulus, mixed(n) % triangle::modulus, mixed(n + 1) % triangle::modulus};
}

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

/// Element `index` of rank `rank`. Floating-point values are such that sums and products of up to 64 of them
/// are exact, and therefore the same however they are associated.
template <class T, class Op = chorale::sum_t>
T operand(std::uint64_t seed, int rank, std::size_t index) {
  const std::uint64_t n = noise(seed, rank, index);
  if constexpr (std::same_as<T, bool>) {
    return n % 8 != 0;
  } else if constexpr (std::same_as<T, std::byte>) {
    return static_cast<std::byte>(n);
  } else if constexpr (is_complex<T>) {
    using part = typename T::value_type;
    // The four units, so that products are exact.
    constexpr int re[] = {1, 0, -1, 0};
    if constexpr (std::same_as<Op, chorale::prod_t>)
      return {static_cast<part>(re[n % 4]), static_cast<part>(re[(n + 1) % 4])};
    return {operand<part>(seed, rank, index), operand<part>(seed + 1, rank, index)};
  } else if constexpr (chorale::floating<T> && sizeof(T) == 2) {
    // Sums of 64 have 8 bits, the products of as many are at most 2^8.
    if constexpr (std::same_as<Op, chorale::prod_t>)
      return static_cast<T>((n % 2 == 0 ? 1.0F : -1.0F) * (rank % 8 == 1 ? 2.0F : 1.0F));
    return static_cast<T>(static_cast<float>(n % 5) - 2.0F);
  } else if constexpr (std::floating_point<T>) {
    constexpr T powers[] = {T(1), T(-2), T(2), T(-0.5)};
    if constexpr (std::same_as<Op, chorale::prod_t>) return powers[n % 4];
    return static_cast<T>(static_cast<std::int64_t>(n % 4001) - 2000) / T(8);
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(n);
  } else if constexpr (std::same_as<T, triangle>) {
    return matrix_from(n);
  } else if constexpr (std::same_as<T, vector3>) {
    const auto small = [](std::uint64_t bits) {
      return static_cast<std::int32_t>(bits % 2'000'001) - 1'000'000;
    };
    return {small(n), small(mixed(n)), small(mixed(n + 1))};
  } else if constexpr (std::same_as<T, aligned>) {
    return {n};
  } else {
    static_assert(std::same_as<T, wide>);
    wide all;
    for (std::size_t i = 0; i < all.parts.size(); ++i) all.parts[i] = matrix_from(n + i);
    return all;
  }
}

/// `op(left, right)` as the C++ language computes it, without the library's operators; user-defined operators
/// are called.
template <class T, class Op>
T reference(const T& left, const T& right, const Op& op) {
  if constexpr (is_complex<T>) {
    if constexpr (std::same_as<Op, chorale::sum_t>)
      return {left.real() + right.real(), left.imag() + right.imag()};
    else
      return {left.real() * right.real() - left.imag() * right.imag(),
              left.real() * right.imag() + left.imag() * right.real()};
  } else if constexpr (std::is_arithmetic_v<T> || chorale::floating<T>) {
    if constexpr (std::same_as<Op, chorale::sum_t> || std::same_as<Op, chorale::prod_t>) {
      constexpr bool sum = std::same_as<Op, chorale::sum_t>;
      if constexpr (chorale::floating<T>) return sum ? left + right : left * right;
      // The low bits of a sum or product do not depend on the width or the sign.
      const auto l = static_cast<std::uint64_t>(left);
      const auto r = static_cast<std::uint64_t>(right);
      return static_cast<T>(sum ? l + r : l * r);
    } else if constexpr (std::same_as<Op, chorale::min_t>) {
      return left < right ? left : right;
    } else if constexpr (std::same_as<Op, chorale::max_t>) {
      return left > right ? left : right;
    } else if constexpr (std::same_as<Op, chorale::logical_and_t>) {
      return static_cast<T>(left && right);
    } else if constexpr (std::same_as<Op, chorale::logical_or_t>) {
      return static_cast<T>(left || right);
    } else if constexpr (std::same_as<Op, chorale::logical_xor_t>) {
      return static_cast<T>(!left != !right);
    } else if constexpr (std::same_as<Op, chorale::bitwise_and_t>) {
      return static_cast<T>(left & right);
    } else if constexpr (std::same_as<Op, chorale::bitwise_or_t>) {
      return static_cast<T>(left | right);
    } else if constexpr (std::same_as<Op, chorale::bitwise_xor_t>) {
      return static_cast<T>(left ^ right);
    } else {
      return op(left, right);
    }
  } else {
    return op(left, right);
  }
}

/// Element `index` of the reduction over `ranks` ranks: folded from rank 0 upwards.
template <class T, class Op>
T expected_reduction(std::uint64_t seed, int ranks, std::size_t index, const Op& op) {
  T result = operand<T, Op>(seed, 0, index);
  for (int r = 1; r < ranks; ++r) result = reference(result, operand<T, Op>(seed, r, index), op);
  return result;
}

}  // namespace collectives
