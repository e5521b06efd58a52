// The concept of a reduction operator, and the inner loops of reductions with a fixed order of operands.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include <chorale/core/lean_functional.hpp>
#include <chorale/core/lean_memory.hpp>
#include <chorale/core/standard_operators.hpp>
#include <chorale/core/types.hpp>
#include <chorale/core/wide_combine.hpp>

namespace chorale {

/// Combines two elements: callable as `op(left, right)` on a const `Op`, with a result that converts to T.
/// The left operand comes from lower ranks; `op` must be associative and need not commute. Of the function
/// objects of <functional>, the associative ones are accepted, for any type (std::plus<>) or for T.
template <class Op, class T>
concept reduction_operator =
    element<T> && std::copy_constructible<Op> && std::is_invocable_r_v<T, const Op&, const T&, const T&> &&
    detail::not_misused_standard_object<Op, T>;

namespace detail {
/// Calls `combine_one(i)` for i in [0, n), for numbers in stretches of a fixed length: g++ at -O2 uses the
/// processor's vector instructions only if it knows that the number of iterations fills whole vectors.
template <class T, class CombineOne>
constexpr void for_each_element(std::size_t n, CombineOne combine_one) {
  std::size_t i = 0;
  if constexpr (std::is_arithmetic_v<T>) {
    constexpr std::size_t stretch = 64 / sizeof(T);
    for (; n - i >= stretch; i += stretch)
      for (std::size_t j = 0; j < stretch; ++j) combine_one(i + j);
  }
  for (; i < n; ++i) combine_one(i);
}
}  // namespace detail

/// inout_right[i] = op(left[i], inout_right[i]) for i in [0, n): combines in a peer's operand from lower
/// ranks. The arrays must not overlap; both are aligned for T.
template <element T, reduction_operator<T> Op>
constexpr void combine_right(const T* __restrict left, T* __restrict inout_right, std::size_t n,
                             const Op& op) {
  detail::for_each_element<T>(n, [=, &op](std::size_t i) {
    inout_right[i] = static_cast<T>(detail::invoke(op, left[i], std::as_const(inout_right[i])));
  });
}

/// inout_left[i] = op(inout_left[i], right[i]) for i in [0, n): combines in a peer's operand from higher
/// ranks. The arrays must not overlap; both are aligned for T.
template <element T, reduction_operator<T> Op>
constexpr void combine_left(T* __restrict inout_left, const T* __restrict right, std::size_t n,
                            const Op& op) {
  detail::for_each_element<T>(n, [=, &op](std::size_t i) {
    inout_left[i] = static_cast<T>(detail::invoke(op, std::as_const(inout_left[i]), right[i]));
  });
}

/// out[i] = op(left[i], right[i]) for i in [0, n). `out` overlaps neither operand; all are aligned for T.
template <element T, reduction_operator<T> Op>
constexpr void combine(const T* left, const T* right, T* __restrict out, std::size_t n, const Op& op) {
  detail::for_each_element<T>(
      n, [=, &op](std::size_t i) { out[i] = static_cast<T>(detail::invoke(op, left[i], right[i])); });
}

namespace detail {
/// Reads or writes an element at any address. T need not be default constructible.
template <element T>
T load(const std::byte* from) noexcept(std::is_nothrow_copy_constructible_v<T>) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from, sizeof(T));
    return std::bit_cast<T>(bytes);
  } else {  // std::bit_cast rejects T; the copy begins the lifetime of an object (see `enable_element`)
    alignas(T) std::byte bytes[sizeof(T)];
    std::memcpy(bytes, from, sizeof(T));
    return *std::launder(reinterpret_cast<const T*>(bytes));
  }
}
template <element T>
void store(std::byte* to, const T& value) noexcept {
  std::memcpy(to, std::addressof(value), sizeof(T));
}
}  // namespace detail

/// `combine` on the bytes of n elements of T each, at any alignment. `out` may equal `left` or `right`, but
/// must not overlap them partially.
template <element T, reduction_operator<T> Op>
requires(!std::same_as<T, std::byte>)
void combine(const std::byte* left, const std::byte* right, std::byte* out, std::size_t n, const Op& op) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = i * sizeof(T);
    detail::store<T>(out + at, static_cast<T>(detail::invoke(op, detail::load<T>(left + at),
                                                             detail::load<T>(right + at))));
  }
}

/// `combine_right` on the bytes of n elements of T each, at any alignment.
template <element T, reduction_operator<T> Op>
requires(!std::same_as<T, std::byte>)
void combine_right(const std::byte* left, std::byte* inout_right, std::size_t n, const Op& op) {
  if constexpr (detail::goes_wide<T, Op>)
    if (n >= detail::least_wide_bytes / sizeof(T) &&
        detail::combine_wide(detail::wide_operator_of<Op>, detail::wide_type_of<T>, left, inout_right,
                             inout_right, n))
      return;
  if constexpr (std::is_move_assignable_v<T>)
    if (is_aligned_for<T>(left) && is_aligned_for<T>(inout_right))
      return combine_right(reinterpret_cast<const T*>(left), reinterpret_cast<T*>(inout_right), n, op);
  combine<T>(left, inout_right, inout_right, n, op);
}

/// `combine_left` on the bytes of n elements of T each, at any alignment.
template <element T, reduction_operator<T> Op>
requires(!std::same_as<T, std::byte>)
void combine_left(std::byte* inout_left, const std::byte* right, std::size_t n, const Op& op) {
  if constexpr (detail::goes_wide<T, Op>)
    if (n >= detail::least_wide_bytes / sizeof(T) &&
        detail::combine_wide(detail::wide_operator_of<Op>, detail::wide_type_of<T>, inout_left, right,
                             inout_left, n))
      return;
  if constexpr (std::is_move_assignable_v<T>)
    if (is_aligned_for<T>(inout_left) && is_aligned_for<T>(right))
      return combine_left(reinterpret_cast<T*>(inout_left), reinterpret_cast<const T*>(right), n, op);
  combine<T>(inout_left, right, inout_left, n, op);
}

}  // namespace chorale
