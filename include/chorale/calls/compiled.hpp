// SPDX-License-Identifier: Apache-2.0
// Starts algorithms; the library contains the standard ones over its own transports in compiled form.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/algorithm/start.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/task.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::calls {

/// How `run` takes an argument: small ones by value, in registers, others by reference.
template <class Element>
using passed =
    std::conditional_t<std::is_trivially_copyable_v<Element> && sizeof(Element) <= 2 * sizeof(void*), Element,
                       const Element&>;

/// Algorithm A of operation `What` over `Net`. Declared for all combinations, defined in the library
/// (`lib/calls/compile.hpp`) if `is_compiled`.
template <operation What, class Algorithm, class Net,
          class Arguments = typename operation_traits<What>::arguments>
struct compiled;
template <operation What, class Algorithm, class Net, class... Arguments>
struct compiled<What, Algorithm, Net, run_arguments<Arguments...>> {
  static task<> run(Net& net, call_id now, passed<Arguments>... arguments);
  static std::string explain(Net& net, std::size_t bytes);
};

/// Whether the library itself runs A, in the rounds of another operation or to connect all ranks.
template <operation What, class Algorithm>
inline constexpr bool is_internal = false;
template <class Algorithm>
inline constexpr bool is_internal<operation::allgather, Algorithm> =
    std::is_same_v<Algorithm, operation_traits<operation::allgather>::repeatable> ||
    std::is_same_v<Algorithm, operation_traits<operation::allgather>::connecting>;

/// Whether the library contains A over `Net`: true for the default algorithms, their substitutes and those
/// that the library runs itself, over its own transports. A program neither includes nor compiles these.
template <operation What, class Algorithm, class Net>
inline constexpr bool is_compiled =
    has_compiled_algorithms<Net> &&
    (std::is_same_v<Algorithm, typename operation_traits<What>::default_algorithm> ||
     std::is_same_v<Algorithm, typename operation_traits<What>::substitute> || is_internal<What, Algorithm>);

/// Whether A accepts blocks of different sizes. The default algorithms do not: they choose by size, and ranks
/// do not know each other's sizes.
template <operation What, class Algorithm>
inline constexpr bool serves_uneven = Algorithm::uneven;
template <operation What, class Algorithm>
requires std::is_same_v<Algorithm, typename operation_traits<What>::default_algorithm>
inline constexpr bool serves_uneven<What, Algorithm> = false;

/// Starts algorithm A of `What` over `net`: the library's compiled form if there is one.
template <operation What, class Algorithm, class Net, class... Arguments>
task<> launch(Net& net, call_id now, const Arguments&... arguments) {
  if constexpr (is_compiled<What, Algorithm, Net>) {
    return compiled<What, Algorithm, Net>::run(net, now, arguments...);
  } else {
    static_assert(
        requires { sizeof(Algorithm); },
        "chorale: an algorithm is not there: the library has the standard ones in compiled form for its "
        "own transports; for others include <chorale/algorithm/standard.hpp>");
    return chorale::start<Algorithm>(net, now, arguments...);
  }
}

}  // namespace chorale::calls
