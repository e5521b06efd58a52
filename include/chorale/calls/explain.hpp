// SPDX-License-Identifier: Apache-2.0
// explain: which algorithm serves a call.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/calls/caller.hpp>
#include <chorale/calls/compiled.hpp>
#include <chorale/core/type_name.hpp>

namespace chorale::calls {

/// The text that `communicator::explain` returns. `said`: the algorithm's explanation, empty if no algorithm
/// serves `what`.
[[nodiscard]] std::string explained(operation what, std::size_t bytes, const transport::endpoint& on,
                                    const char* transport, const std::string& said);

/// The algorithm's own explanation; empty if it has none.
template <class Algorithm, class Net>
std::string explain_algorithm(Net& net, std::size_t bytes) {
  if constexpr (requires { Algorithm::explain(net, bytes); })
    return Algorithm::explain(net, bytes);
  else
    return {};
}

/// The algorithm's own explanation or, if it has none, its name and `why`.
template <operation What, class Algorithm, class Net>
std::string explain_served(Net& net, std::size_t bytes, const char* why) {
  std::string said;
  if constexpr (is_compiled<What, Algorithm, Net>)
    said = compiled<What, Algorithm, Net>::explain(net, bytes);
  else
    said = calls::explain_algorithm<Algorithm>(net, bytes);
  return said.empty() ? chorale::type_name<Algorithm>() + ": " + why : said;
}

template <class Caller>
std::string explain(Caller& on, operation what, std::size_t bytes) {
  const transport::occupancy::entry inside{on.transport().core().use(), what};
  std::string said;
  chorale::for_each_operation(operations_with_algorithms{}, [&]<operation Served>() {
    using traits = operation_traits<Served>;
    if (what == operation::none || (what != Served && what != traits::also)) return;
    using algorithm = algorithm_of<Served, Caller>;
    if constexpr (traits::also != operation::none && !std::is_void_v<typename traits::substitute>) {
      if (what == traits::also && !serves_uneven<Served, algorithm>) {
        said = calls::explain_served<Served, typename traits::substitute>(
            on.net(), bytes, "it takes uneven blocks, which the algorithm for even ones does not");
        return;
      }
    }
    said = calls::explain_served<Served, algorithm>(on.net(), bytes, "this communicator is composed of it");
  });
  if constexpr (requires { on.transport().registrations().refusals; }) {
    if (const auto times = on.transport().registrations().refusals; times != 0)
      said += "; the device has refused to register memory of this rank " + std::to_string(times) +
              (times == 1 ? " time" : " times") + ": calls on such memory make an additional copy of it";
  }
  return calls::explained(what, bytes, on.net().core(), Caller::transport_type::name, said);
}

}  // namespace chorale::calls
