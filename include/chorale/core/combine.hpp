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
template <class Op, class Element>
concept reduction_operator = element<Element> && std::copy_constructible<Op> &&
                             std::is_invocable_r_v<Element, const Op&, const Element&, const Element&> &&
                             detail::not_misused_standard_object<Op, Element>;

namespace detail {
/// Calls `combine_one(i)` for i in [0, n), for numbers in stretches of a fixed length: g++ at -O2 uses the
/// processor's vector instructions only if it knows that the number of iterations fills whole vectors.
template <class Element, class CombineOne>
constexpr void for_each_element(std::size_t n, CombineOne combine_one) {
  std::size_t i = 0;
  if constexpr (std::is_arithmetic_v<Element>) {
    constexpr std::size_t stretch = 64 / sizeof(Element);
    for (; n - i >= stretch; i += stretch)
      for (std::size_t j = 0; j < stretch; ++j) combine_one(i + j);
  }
  for (; i < n; ++i) combine_one(i);
}
}  // namespace detail

/// inout_right[i] = op(left[i], inout_right[i]) for i in [0, n): combines in a peer's operand from lower
/// ranks. The arrays must not overlap; both are aligned for T.
template <element Element, reduction_operator<Element> Op>
constexpr void combine_right(const Element* __restrict left, Element* __restrict inout_right, std::size_t n,
                             const Op& op) {
  detail::for_each_element<Element>(n, [=, &op](std::size_t i) {
    inout_right[i] = static_cast<Element>(detail::invoke(op, left[i], std::as_const(inout_right[i])));
  });
}

/// inout_left[i] = op(inout_left[i], right[i]) for i in [0, n): combines in a peer's operand from higher
/// ranks. The arrays must not overlap; both are aligned for T.
template <element Element, reduction_operator<Element> Op>
constexpr void combine_left(Element* __restrict inout_left, const Element* __restrict right, std::size_t n,
                            const Op& op) {
  detail::for_each_element<Element>(n, [=, &op](std::size_t i) {
    inout_left[i] = static_cast<Element>(detail::invoke(op, std::as_const(inout_left[i]), right[i]));
  });
}

/// out[i] = op(left[i], right[i]) for i in [0, n). `out` overlaps neither operand; all are aligned for T.
template <element Element, reduction_operator<Element> Op>
constexpr void combine(const Element* left, const Element* right, Element* __restrict out, std::size_t n,
                       const Op& op) {
  detail::for_each_element<Element>(
      n, [=, &op](std::size_t i) { out[i] = static_cast<Element>(detail::invoke(op, left[i], right[i])); });
}

namespace detail {
/// Reads or writes an element at any address. Element need not be default constructible.
template <element Element>
Element load(const std::byte* from) noexcept(std::is_nothrow_copy_constructible_v<Element>) {
  if constexpr (std::is_trivially_copyable_v<Element>) {
    std::array<std::byte, sizeof(Element)> bytes;
    std::memcpy(bytes.data(), from, sizeof(Element));
    return std::bit_cast<Element>(bytes);
  } else {  // std::bit_cast rejects Element; the copy begins the lifetime of an object (see `enable_element`)
    alignas(Element) std::byte bytes[sizeof(Element)];
    std::memcpy(bytes, from, sizeof(Element));
    return *std::launder(reinterpret_cast<const Element*>(bytes));
  }
}
template <element Element>
void store(std::byte* to, const Element& value) noexcept {
  std::memcpy(to, std::addressof(value), sizeof(Element));
}
}  // namespace detail

/// `combine` on the bytes of n elements each, at any alignment. `out` may equal `left` or `right`, but
/// must not overlap them partially.
template <element Element, reduction_operator<Element> Op>
requires(!std::same_as<Element, std::byte>)
void combine(const std::byte* left, const std::byte* right, std::byte* out, std::size_t n, const Op& op) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = i * sizeof(Element);
    detail::store<Element>(out + at, static_cast<Element>(detail::invoke(op, detail::load<Element>(left + at),
                                                                         detail::load<Element>(right + at))));
  }
}

/// `combine_right` on the bytes of n elements each, at any alignment.
template <element Element, reduction_operator<Element> Op>
requires(!std::same_as<Element, std::byte>)
void combine_right(const std::byte* left, std::byte* inout_right, std::size_t n, const Op& op) {
  if constexpr (detail::goes_wide<Element, Op>)
    if (n >= detail::least_wide_bytes / sizeof(Element) &&
        detail::combine_wide(detail::wide_operator_of<Op>, detail::wide_type_of<Element>, left, inout_right,
                             inout_right, n))
      return;
  if constexpr (std::is_move_assignable_v<Element>)
    if (is_aligned_for<Element>(left) && is_aligned_for<Element>(inout_right))
      return combine_right(reinterpret_cast<const Element*>(left), reinterpret_cast<Element*>(inout_right), n,
                           op);
  combine<Element>(left, inout_right, inout_right, n, op);
}

/// `combine_left` on the bytes of n elements each, at any alignment.
template <element Element, reduction_operator<Element> Op>
requires(!std::same_as<Element, std::byte>)
void combine_left(std::byte* inout_left, const std::byte* right, std::size_t n, const Op& op) {
  if constexpr (detail::goes_wide<Element, Op>)
    if (n >= detail::least_wide_bytes / sizeof(Element) &&
        detail::combine_wide(detail::wide_operator_of<Op>, detail::wide_type_of<Element>, inout_left, right,
                             inout_left, n))
      return;
  if constexpr (std::is_move_assignable_v<Element>)
    if (is_aligned_for<Element>(inout_left) && is_aligned_for<Element>(right))
      return combine_left(reinterpret_cast<Element*>(inout_left), reinterpret_cast<const Element*>(right), n,
                          op);
  combine<Element>(inout_left, right, inout_left, n, op);
}

}  // namespace chorale
