// SPDX-License-Identifier: Apache-2.0
// The concept of a reduction operator, and the inner loops of reductions with a fixed order of operands.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>

#include <chorale/core/operator_tag.hpp>
#include <chorale/core/standard_operators.hpp>
#include <chorale/core/types.hpp>
#include <chorale/core/wide_combine.hpp>

namespace chorale {

/// Combines two elements: callable as `op(left, right)` on a const `Op`, with a result that converts to
/// Element. The left operand comes from lower ranks; `op` must be associative and need not commute. Of the
/// function objects of <functional>, the associative ones are accepted, for any type (std::plus<>) or for
/// Element.
template <class Op, class Element>
concept reduction_operator = element<Element> && std::copy_constructible<Op> &&
                             std::is_invocable_r_v<Element, const Op&, const Element&, const Element&> &&
                             detail::not_misused_standard_object<Op, Element>;

namespace detail {
#if defined(__clang__)
#define CHORALE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"  // not every operator can be vectorized
#elif defined(__GNUC__)
#define CHORALE_INDEPENDENT _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#else
#define CHORALE_INDEPENDENT
#endif

/// out[i] = op(left[i], right[i]), in stretches of a fixed length or in one loop: g++ at -O2 vectorizes a
/// loop only if it knows that the number of iterations fills whole vectors.
template <bool InStretches, class Element, class Op>
[[gnu::always_inline]] constexpr inline void combine_each(const Element* left, const Element* right,
                                                          Element* out, std::size_t n, const Op& op) {
  std::size_t i = 0;
  if constexpr (InStretches) {
    constexpr std::size_t stretch = 64 / sizeof(Element);
    for (; n - i >= stretch; i += stretch) {
      CHORALE_INDEPENDENT
      for (std::size_t j = 0; j < stretch; ++j)
        out[i + j] = static_cast<Element>(std::invoke(op, left[i + j], right[i + j]));
    }
  }
  CHORALE_INDEPENDENT
  for (; i < n; ++i) {
    if constexpr (std::is_move_assignable_v<Element>) {
      out[i] = static_cast<Element>(std::invoke(op, left[i], right[i]));
    } else {
      const Element result = static_cast<Element>(std::invoke(op, left[i], right[i]));
      std::memcpy(static_cast<void*>(std::addressof(out[i])), std::addressof(result), sizeof(Element));
    }
  }
}
#undef CHORALE_INDEPENDENT

// If the processor has fused multiply-add, g++ may contract a * b + c in one copy of a loop and not in
// another, so the vectorized part and the remainder, or the calls of two algorithms, would round the same
// operands differently. Operators that may contain such an expression are therefore evaluated without
// contraction, in one function per operator and type. g++ 12 contracts even then when it vectorizes sums
// together with differences, so structures are combined one by one.
#if defined(__GNUC__) && !defined(__clang__) && (defined(__FP_FAST_FMA) || defined(__FP_FAST_FMAF))
inline constexpr bool contracts = true;
#define CHORALE_ROUNDS_ALIKE(how) \
  [[gnu::noinline, gnu::optimize("fp-contract=off", "no-tree-slp-vectorize", how)]]
#else
inline constexpr bool contracts = false;
#define CHORALE_ROUNDS_ALIKE(how)
#endif
template <class Element, class Op>
CHORALE_ROUNDS_ALIKE("vect-cost-model=dynamic")
constexpr void combine_numbers(const Element* left, const Element* right, Element* out, std::size_t n,
                               const Op& op) {
  detail::combine_each<false>(left, right, out, n, op);
}
template <class Element, class Op>
CHORALE_ROUNDS_ALIKE("no-tree-loop-vectorize")
constexpr void combine_structures(const Element* left, const Element* right, Element* out, std::size_t n,
                                  const Op& op) {
  detail::combine_each<false>(left, right, out, n, op);
}
#undef CHORALE_ROUNDS_ALIKE
}  // namespace detail

/// out[i] = op(left[i], right[i]) for i in [0, n). `out` may equal `left` or `right`, but must not overlap
/// them partially; all are aligned for Element. The bits of an element do not depend on its position.
template <element Element, reduction_operator<Element> Op>
constexpr void combine(const Element* left, const Element* right, Element* out, std::size_t n, const Op& op) {
  if constexpr (!detail::contracts || (detail::arithmetic<Element> && detail::builtin_tag<Op> != 0))
    detail::combine_each<std::is_arithmetic_v<Element>>(left, right, out, n, op);
  else if constexpr (detail::arithmetic<Element>)
    detail::combine_numbers(left, right, out, n, op);
  else
    detail::combine_structures(left, right, out, n, op);
}

namespace detail {
/// Whether all three are aligned for Element.
template <class Element>
bool are_aligned(const std::byte* left, const std::byte* right, const std::byte* out) noexcept {
  const auto place = [](const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address); };
  return (place(left) | place(right) | place(out)) % alignof(Element) == 0;
}

/// Combines with wide vectors or, if operands are unaligned, in aligned copies. The copies begin the
/// lifetimes of objects, also of types that are not trivially copyable (see `enable_element`).
template <class Element, class Op>
[[gnu::noinline]] void combine_otherwise(const std::byte* left, const std::byte* right, std::byte* out,
                                         std::size_t n, const Op& op) {
  if constexpr (goes_wide<Element, Op>)
    if (detail::combine_wide(wide_operator_of<Op>, wide_type_of<Element>, left, right, out, n)) return;
  if (detail::are_aligned<Element>(left, right, out))
    return chorale::combine<Element>(reinterpret_cast<const Element*>(left),
                                     reinterpret_cast<const Element*>(right), reinterpret_cast<Element*>(out),
                                     n, op);
  constexpr std::size_t most = sizeof(Element) < 1024 ? 1024 / sizeof(Element) : 1;
  alignas(Element) std::byte lefts[most * sizeof(Element)];
  alignas(Element) std::byte rights[most * sizeof(Element)];
  auto* const mine = reinterpret_cast<Element*>(lefts);
  for (std::size_t done = 0; done < n; done += most) {
    const std::size_t count = n - done < most ? n - done : most;
    const std::size_t first = done * sizeof(Element), bytes = count * sizeof(Element);
    std::memcpy(lefts, left + first, bytes);
    std::memcpy(rights, right + first, bytes);
    chorale::combine<Element>(std::launder(mine), std::launder(reinterpret_cast<const Element*>(rights)),
                              std::launder(mine), count, op);
    std::memcpy(out + first, lefts, bytes);
  }
}
}  // namespace detail

/// The same on the bytes of n elements each, at any alignment. Element need not be default constructible.
template <element Element, reduction_operator<Element> Op>
requires(!std::same_as<Element, std::byte>)
void combine(const std::byte* left, const std::byte* right, std::byte* out, std::size_t n, const Op& op) {
  if ((detail::goes_wide<Element, Op> && n >= detail::least_wide_bytes / sizeof(Element)) ||
      !detail::are_aligned<Element>(left, right, out))
    return detail::combine_otherwise<Element>(left, right, out, n, op);
  chorale::combine<Element>(reinterpret_cast<const Element*>(left), reinterpret_cast<const Element*>(right),
                            reinterpret_cast<Element*>(out), n, op);
}

}  // namespace chorale

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
