// Where a call starts its algorithm.
#pragma once

#include <chorale/calls/compiled/standard.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/task.hpp>

namespace chorale::calls {

/// Starts `Algorithm` over `net`: by `standard_algorithms` if it is one of those, so that a translation unit
/// that knows of compiled ones (`compiled/`) does not compile it again.
template <class Algorithm, class Net, class... Arguments>
task<> launch(Net& net, epoch now, const Arguments&... arguments) {
  if constexpr (requires { standard_algorithms<Net>::run(of<Algorithm>{}, net, now, arguments...); })
    return standard_algorithms<Net>::run(of<Algorithm>{}, net, now, arguments...);
  else
    return Algorithm::run(net, now, arguments...);
}

}  // namespace chorale::calls
