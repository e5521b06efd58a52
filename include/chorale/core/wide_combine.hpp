// SPDX-License-Identifier: Apache-2.0
// Combines arrays of numbers with the widest vectors of the processor, determined at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <chorale/core/operators.hpp>

namespace chorale::detail {

/// The operators that `combine_wide` supports.
enum class wide_operator : std::uint8_t { none, sum, prod, min, max, bitwise_and, bitwise_or, bitwise_xor };
/// The types that it supports, by representation.
enum class wide_type : std::uint8_t { none, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };

/// The value for operator Op; `none` if `combine_wide` does not support it.
template <class Op>
inline constexpr wide_operator wide_operator_of = wide_operator::none;
template <>
inline constexpr wide_operator wide_operator_of<sum_t> = wide_operator::sum;
template <>
inline constexpr wide_operator wide_operator_of<prod_t> = wide_operator::prod;
template <>
inline constexpr wide_operator wide_operator_of<min_t> = wide_operator::min;
template <>
inline constexpr wide_operator wide_operator_of<max_t> = wide_operator::max;
template <>
inline constexpr wide_operator wide_operator_of<bitwise_and_t> = wide_operator::bitwise_and;
template <>
inline constexpr wide_operator wide_operator_of<bitwise_or_t> = wide_operator::bitwise_or;
template <>
inline constexpr wide_operator wide_operator_of<bitwise_xor_t> = wide_operator::bitwise_xor;

/// The value for an integer of `bytes`.
constexpr wide_type wide_integer(std::size_t bytes, bool is_signed) noexcept {
  switch (bytes) {
    case 1:
      return is_signed ? wide_type::i8 : wide_type::u8;
    case 2:
      return is_signed ? wide_type::i16 : wide_type::u16;
    case 4:
      return is_signed ? wide_type::i32 : wide_type::u32;
    case 8:
      return is_signed ? wide_type::i64 : wide_type::u64;
    default:
      return wide_type::none;
  }
}
/// The value for the representation of Element; `none` except for integers of up to 64 bits, float and
/// double.
template <class Element>
inline constexpr wide_type wide_type_of =
    std::is_integral_v<Element> ? detail::wide_integer(sizeof(Element), std::is_signed_v<Element>)
                                : wide_type::none;
template <>
inline constexpr wide_type wide_type_of<bool> = wide_type::none;
template <>
inline constexpr wide_type wide_type_of<float> = wide_type::f32;
template <>
inline constexpr wide_type wide_type_of<double> = wide_type::f64;

/// For fewer bytes the call costs more than wider vectors save.
inline constexpr std::size_t least_wide_bytes = 512;

/// out[i] = left[i] op right[i] for `n` elements at any addresses; `out` may equal `left` or `right`, but
/// must not overlap them partially. The bits are those of the operator's function object. Thread-safe.
/// @returns false, having done nothing, if the processor has no vectors wider than its architecture's
/// baseline, or if the operator does not apply to the type.
bool combine_wide(wide_operator op, wide_type type, const std::byte* left, const std::byte* right,
                  std::byte* out, std::size_t n) noexcept;

/// Whether `combine_wide` may combine arrays of Element by Op.
template <class Element, class Op>
inline constexpr bool goes_wide =
    wide_operator_of<Op> != wide_operator::none && wide_type_of<Element> != wide_type::none;

}  // namespace chorale::detail
