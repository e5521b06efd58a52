// What the library holds in compiled form: the standard algorithms over its transports.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/task.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::calls {

/// How an argument of `run` travels to the library: small ones in registers.
template <class Element>
using passed =
    std::conditional_t<std::is_trivially_copyable_v<Element> && sizeof(Element) <= 2 * sizeof(void*), Element,
                       const Element&>;

/// Algorithm A of operation `What` over `Net`. Declared for all, defined in the library
/// (`lib/calls/compile.hpp`) for those that `is_compiled` names.
template <operation What, class Algorithm, class Net,
          class Arguments = typename operation_traits<What>::arguments>
struct compiled;
template <operation What, class Algorithm, class Net, class... Arguments>
struct compiled<What, Algorithm, Net, run_arguments<Arguments...>> {
  static task<> run(Net& net, call_id now, passed<Arguments>... arguments);
  static std::string explain(Net& net, std::size_t bytes);
};

/// Whether the library itself calls A: for the rounds of another operation, or to connect all ranks.
template <operation What, class Algorithm>
inline constexpr bool is_internal = false;
template <class Algorithm>
inline constexpr bool is_internal<operation::allgather, Algorithm> =
    std::is_same_v<Algorithm, operation_traits<operation::allgather>::repeatable> ||
    std::is_same_v<Algorithm, operation_traits<operation::allgather>::connecting>;

/// True for what a communicator runs that names a transport of the library and no algorithm: a program
/// neither compiles such an algorithm nor includes it.
template <operation What, class Algorithm, class Net>
inline constexpr bool is_compiled =
    has_compiled_algorithms<Net> &&
    (std::is_same_v<Algorithm, typename operation_traits<What>::default_algorithm> ||
     std::is_same_v<Algorithm, typename operation_traits<What>::substitute> || is_internal<What, Algorithm>);

/// Whether A serves blocks of several sizes. The default algorithms choose by size, and ranks do not know
/// each other's.
template <operation What, class Algorithm>
inline constexpr bool serves_uneven = Algorithm::uneven;
template <operation What, class Algorithm>
requires std::is_same_v<Algorithm, typename operation_traits<What>::default_algorithm>
inline constexpr bool serves_uneven<What, Algorithm> = false;

}  // namespace chorale::calls
