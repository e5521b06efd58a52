// SPDX-License-Identifier: Apache-2.0
// Where a call starts its algorithm.
#pragma once

#include <chorale/algorithm/start.hpp>
#include <chorale/calls/compiled.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/task.hpp>

namespace chorale::calls {

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
