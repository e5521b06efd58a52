// SPDX-License-Identifier: Apache-2.0
// A type-erased operator with its element type.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <chorale/core/byte_operator.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/combine.hpp>
#include <chorale/core/named.hpp>
#include <chorale/core/operator_tag.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/core/placed.hpp>

namespace chorale {

namespace detail {
/// Whether the library's operators commute on T.
template <class Element>
inline constexpr bool is_number =
    arithmetic<Element> || complex_number<Element> || std::same_as<Element, std::byte>;
template <class Element>
inline constexpr bool is_number<placed<Element>> = arithmetic<Element>;
template <class Element, std::integral Place>
inline constexpr bool is_number<std::pair<Element, Place>> = arithmetic<Element>;

template <class Op, class Element>
constexpr bool says_it_commutes() {
  if constexpr (requires {
                  { Op::commutes } -> std::convertible_to<bool>;
                })
    return Op::commutes;
  else
    return builtin_tag<library_operator<Op>> != 0 && is_number<Element>;
}
/// Whether the bits of a result are independent of the bracketing: true for integers with the library's
/// operators.
template <class Element, class Op>
inline constexpr bool is_exact =
    builtin_tag<library_operator<Op>> != 0 && (integer<Element> || std::same_as<Element, std::byte>);
template <class Element, class Op>
void fold(const void* op, const std::byte* left, const std::byte* right, std::byte* out, std::size_t bytes) {
  chorale::combine<Element>(left, right, out, bytes / sizeof(Element), *static_cast<const Op*>(op));
}
}  // namespace detail

/// True if op(a, b) equals op(b, a): such operators may be evaluated in an order other than rank order, by
/// algorithms that document it. The library's operators commute on numbers, `min_at` and `max_at` on numbers
/// with a place; your own operator does if it has a member `static constexpr bool commutes = true`, or if you
/// specialize this variable.
template <class Op, class Element>
inline constexpr bool commutes = detail::says_it_commutes<Op, Element>();
/// A named operator commutes if the operator in it does.
template <operator_name Name, class Op, class Element>
inline constexpr bool commutes<named_operator<Name, Op>, Element> = commutes<Op, Element>;

/// The operator that reduction algorithms use: it works on the bytes of whole elements, so that each
/// algorithm is compiled once for all operators and types. Cheap to copy; holds a copy of the operator. Cost:
/// one indirect call per range of elements.
class reduction {
 public:
  /// For elements of a type known at compile time, combined by `op`.
  template <element Element, reduction_operator<Element> Op>
  static reduction of(Op op) {
    using evaluated = detail::evaluated_operator<Op, Element>;
    if constexpr (!std::same_as<evaluated, Op>) return of<Element>(evaluated{});
    reduction made;
    made.table_ = &table_for<Element, Op>;
    if constexpr (fits<Op>)
      new (made.small_.data()) Op(std::move(op));
    else
      made.large_ = std::make_shared<const Op>(std::move(op));
    return made;
  }

  /// For elements of `size` bytes each (at least 1), combined by an operator on bytes.
  static reduction of_bytes(byte_operator op, std::size_t size);

  /// Bytes of one element.
  [[nodiscard]] std::size_t element_bytes() const noexcept { return table_->element_bytes; }
  /// The largest multiple of the element size within `bytes`, but at least one element.
  [[nodiscard]] std::size_t whole(std::size_t bytes) const noexcept {
    const std::size_t one = table_->element_bytes;
    if (bytes < one) return one;
    // Every reduction calls this; dividing by a number known only at run time takes as long as the rest of a
    // short reduction's loop.
    return (one & (one - 1)) == 0 ? bytes & ~(one - 1) : bytes / one * one;
  }
  /// True if operands may be exchanged.
  [[nodiscard]] bool commutes() const noexcept { return table_->commutes; }
  /// True if the bits of a result are known to be independent of the bracketing: not for floating-point
  /// numbers, nor for operators unknown to the library.
  [[nodiscard]] bool is_exact() const noexcept { return table_->is_exact; }

  /// mine[i] = op(mine[i], right[i]): combines in operands of higher ranks. Same size, no overlap, any
  /// alignment.
  void combine_left(std::span<std::byte> mine, std::span<const std::byte> right) const {
    table_->fold(op(), mine.data(), right.data(), mine.data(), mine.size());
    clock::combined(mine.data(), right.data(), mine.size());
  }
  /// mine[i] = op(left[i], mine[i]): combines in operands of lower ranks. Same size, no overlap, any
  /// alignment.
  void combine_right(std::span<const std::byte> left, std::span<std::byte> mine) const {
    table_->fold(op(), left.data(), mine.data(), mine.data(), mine.size());
    clock::combined(mine.data(), left.data(), mine.size());
  }

 private:
  struct table {
    std::size_t element_bytes;
    bool commutes;
    bool is_exact;
    /// out[i] = op(left[i], right[i]); `out` is `left` or `right`.
    void (*fold)(const void* op, const std::byte* left, const std::byte* right, std::byte* out,
                 std::size_t bytes);
  };
  static constexpr std::size_t room = 24;
  template <class Op>
  static constexpr bool fits =
      sizeof(Op) <= room && alignof(Op) <= alignof(std::max_align_t) && std::is_trivially_copyable_v<Op>;
  template <class Element, class Op>
  static constexpr table table_for{sizeof(Element), chorale::commutes<Op, Element>,
                                   detail::is_exact<Element, Op>, &detail::fold<Element, Op>};
  [[nodiscard]] const void* op() const noexcept {
    return large_ ? large_.get() : static_cast<const void*>(small_.data());
  }

  const table* table_ = nullptr;
  alignas(std::max_align_t) std::array<std::byte, room> small_{};
  std::shared_ptr<const void> large_;
};

}  // namespace chorale
