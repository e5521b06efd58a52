// SPDX-License-Identifier: Apache-2.0
// User-defined element types, for the tests of collectives.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <chorale/bench/oracle.hpp>
#include <chorale/core/types.hpp>

namespace collectives {

using chorale::bench::mixed;
using chorale::bench::noise;

/// The upper triangular matrix (a b; 0 c) modulo a prime: 24 bytes whose product is associative and does not
/// commute, so that evaluation in a different order from that of the ranks gives a different result.
struct triangle {
  static constexpr std::uint64_t modulus = 2'147'483'647;
  std::uint64_t a, b, c;
  static constexpr triangle from(std::uint64_t n) noexcept {
    return {n % modulus, mixed(n) % modulus, mixed(n + 1) % modulus};
  }
  static constexpr triangle operand(std::uint64_t seed, int rank, std::size_t index) noexcept {
    return from(noise(seed, rank, index));
  }
  friend constexpr bool operator==(const triangle&, const triangle&) = default;
};
static_assert(sizeof(triangle) == 24 && std::is_trivially_copyable_v<triangle>);

/// A user-defined function object with state, to test that it is passed on to the algorithm.
struct multiply {
  std::uint64_t modulus = triangle::modulus;
  constexpr triangle operator()(const triangle& l, const triangle& r) const {
    return {l.a * r.a % modulus, (l.a * r.b + l.b * r.c) % modulus, l.c * r.c % modulus};
  }
};
static_assert(multiply{}({2, 3, 5}, {7, 11, 13}) == triangle{14, 61, 65});
static_assert(!(multiply{}({7, 11, 13}, {2, 3, 5}) == triangle{14, 61, 65}));

/// x -> a * x + b modulo 2^32: 8 bytes whose composition is associative and does not commute.
struct affine {
  std::uint32_t a, b;
  static constexpr affine operand(std::uint64_t seed, int rank, std::size_t index) noexcept {
    const std::uint64_t n = noise(seed, rank, index);
    return {static_cast<std::uint32_t>(n) | 1U, static_cast<std::uint32_t>(n >> 32)};
  }
  friend constexpr bool operator==(const affine&, const affine&) = default;
};
struct then {
  constexpr affine operator()(const affine& first, const affine& second) const noexcept {
    return {first.a * second.a, second.a * first.b + second.b};
  }
};

/// 12 bytes with a user-defined operator for `chorale::sum`; not default constructible.
struct vector3 {
  std::int32_t x, y, z;
  explicit constexpr vector3(std::int32_t all) : x(all), y(all), z(all) {}
  constexpr vector3(std::int32_t x_, std::int32_t y_, std::int32_t z_) : x(x_), y(y_), z(z_) {}
  static constexpr vector3 operand(std::uint64_t seed, int rank, std::size_t index) noexcept {
    const auto small = [](std::uint64_t bits) {
      return static_cast<std::int32_t>(bits % 2'000'001) - 1'000'000;
    };
    const std::uint64_t n = noise(seed, rank, index);
    return {small(n), small(mixed(n)), small(mixed(n + 1))};
  }
  friend constexpr vector3 operator+(const vector3& l, const vector3& r) {
    return {l.x + r.x, l.y + r.y, l.z + r.z};
  }
  friend constexpr bool operator==(const vector3&, const vector3&) = default;
};

/// An element that fits into no block: 400 matrices, 9600 bytes.
struct wide {
  std::array<triangle, 400> parts;
  static wide operand(std::uint64_t seed, int rank, std::size_t index) noexcept {
    const std::uint64_t n = noise(seed, rank, index);
    wide all;
    for (std::size_t i = 0; i < all.parts.size(); ++i) all.parts[i] = triangle::from(n + i);
    return all;
  }
  friend constexpr bool operator==(const wide&, const wide&) = default;
};

struct multiply_wide {
  wide operator()(const wide& l, const wide& r) const {
    wide product;
    for (std::size_t i = 0; i < product.parts.size(); ++i)
      product.parts[i] = multiply{}(l.parts[i], r.parts[i]);
    return product;
  }
};

/// With stricter alignment than a message in a block.
struct alignas(64) aligned {
  std::uint64_t value;
  static constexpr aligned operand(std::uint64_t seed, int rank, std::size_t index) noexcept {
    return {noise(seed, rank, index)};
  }
  friend constexpr bool operator==(const aligned&, const aligned&) = default;
  friend constexpr aligned operator+(const aligned& l, const aligned& r) { return {l.value + r.value}; }
};

}  // namespace collectives

/// Its bytes are its value, despite its constructors.
template <>
inline constexpr bool chorale::enable_element<collectives::vector3> = true;
