// SPDX-License-Identifier: Apache-2.0
// Compiles the standard algorithms over a transport: `template struct compile<Net>`.
#pragma once

#include <type_traits>

#include <chorale/algorithm/standard.hpp>
#include <chorale/algorithm/start.hpp>
#include <chorale/calls/compiled.hpp>
#include <chorale/calls/explain.hpp>

namespace chorale::calls {

template <operation What, class A, class Net, class... Arguments>
task<> compiled<What, A, Net, run_arguments<Arguments...>>::run(Net& net, call_id now,
                                                                passed<Arguments>... arguments) {
  return start<A>(net, now, arguments...);
}

template <operation What, class A, class Net, class... Arguments>
std::string compiled<What, A, Net, run_arguments<Arguments...>>::explain(Net& net, std::size_t bytes) {
  return explain_algorithm<A>(net, bytes);
}

/// Takes the address of each function, so that the compiler emits it.
template <class Net, class Operations = operations_with_algorithms>
struct compile;
template <class Net, operation... Whats>
struct compile<Net, operation_list<Whats...>> {
  static_assert(has_compiled_algorithms<Net>, "programs would compile the algorithms again");
  using function = void (*)();
  struct functions {
    function run;
    function explain;
  };

  template <operation What, class A>
  static functions of() noexcept {
    if constexpr (std::is_void_v<A>)
      return {};
    else
      return {reinterpret_cast<function>(&compiled<What, A, Net>::run),
              reinterpret_cast<function>(&compiled<What, A, Net>::explain)};
  }
  static inline const functions defaults[] = {
      of<Whats, typename operation_traits<Whats>::default_algorithm>()...};
  static inline const functions substitutes[] = {
      of<Whats, typename operation_traits<Whats>::substitute>()...};
  static inline const functions internal[] = {
      of<operation::allgather, typename operation_traits<operation::allgather>::repeatable>(),
      of<operation::allgather, typename operation_traits<operation::allgather>::connecting>()};
};

}  // namespace chorale::calls
