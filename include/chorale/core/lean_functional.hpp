// The part of <functional> that the library uses: std::function, std::reference_wrapper, function objects, an
// invoke.
#pragma once

#include <type_traits>
#include <utility>

#include <chorale/core/lean_headers.hpp>

// The rest of <functional>, above all searchers with hash tables, would add 10,000 lines to every program.
#if CHORALE_LEAN_HEADERS
#include <bits/refwrap.h>       // IWYU pragma: export
#include <bits/std_function.h>  // IWYU pragma: export
#include <bits/stl_function.h>  // IWYU pragma: export
#else
#include <functional>  // IWYU pragma: export
#endif

namespace chorale::detail {

/// As std::invoke with two arguments: `op` may be a member function of the first.
template <class Op, class Left, class Right>
constexpr decltype(auto) invoke(const Op& op, Left&& left, Right&& right) {
  if constexpr (std::is_member_function_pointer_v<Op>)
    return (std::forward<Left>(left).*op)(std::forward<Right>(right));
  else
    return op(std::forward<Left>(left), std::forward<Right>(right));
}

}  // namespace chorale::detail
