// SPDX-License-Identifier: Apache-2.0
// Starting an algorithm.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/task.hpp>

namespace chorale {

/// True if A only works in place, in an operation whose algorithms may take operand and result separately.
template <class Algorithm, class Net, class... Arguments>
inline constexpr bool works_in_place = requires {
  typename operation_traits<Algorithm::implements>::in_place_arguments;
} && !requires(Net& net, call_id now, const Arguments&... arguments) {
  Algorithm::run(net, now, arguments...);
};

namespace detail {

template <class Algorithm, class Net, class... More>
[[gnu::always_inline]] inline task<> start_in_place(Net& net, call_id now, std::span<const std::byte> in,
                                                    std::span<std::byte> out, const More&... more) {
  place_own(in, out);
  return Algorithm::run(net, now, out, more...);
}

}  // namespace detail

/// Starts A with the arguments of its operation. If A works in place, copies the operand into the result
/// first, unless it is there already.
template <class Algorithm, class Net, class... Arguments>
[[gnu::always_inline]] inline task<> start(Net& net, call_id now, const Arguments&... arguments) {
  if constexpr (works_in_place<Algorithm, Net, Arguments...>)
    return detail::start_in_place<Algorithm>(net, now, arguments...);
  else
    return Algorithm::run(net, now, arguments...);
}

}  // namespace chorale
