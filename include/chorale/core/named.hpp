// SPDX-License-Identifier: Apache-2.0
// Operators with a name.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <chorale/core/operator_tag.hpp>

namespace chorale {

/// A string literal as a template argument.
template <std::size_t Bytes>
struct operator_name {
  char text[Bytes];  ///< null-terminated
  /// Implicit, so that a string literal converts to a template argument of `named`.
  consteval operator_name(const char (&literal)[Bytes]) {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < Bytes; ++i) text[i] = literal[i];
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {text, Bytes - 1}; }  ///< The name.
};

/// The type that `named` returns: calls `op`.
template <operator_name Name, class Op>
struct named_operator {
  static_assert(!Name.view().empty(), "the name of an operator must not be empty");
  [[no_unique_address]] Op op;  ///< the named operator

  template <class Element>
  requires std::is_invocable_v<const Op&, const Element&, const Element&>
  constexpr decltype(auto) operator()(const Element& left, const Element& right) const {
    if constexpr (std::same_as<detail::evaluated_operator<Op, Element>, Op>)
      return std::invoke(op, left, right);
    else
      return detail::evaluated_operator<Op, Element>{}(left, right);
  }
};

/// `op` with a name, by which ranks compare operators and which errors show: `comm.allreduce(x,
/// named<"largest residual">([](...) { ... }))`. Equal names must mean equal operators on all ranks. Required
/// for function pointers and std::function, and if ranks run different executables.
template <operator_name Name, class Op>
[[nodiscard]] constexpr auto named(Op op) {
  return named_operator<Name, Op>{std::move(op)};
}

namespace detail {
template <operator_name Name, class Op>
inline constexpr std::string_view given_name<named_operator<Name, Op>> = Name.view();
}  // namespace detail

}  // namespace chorale
