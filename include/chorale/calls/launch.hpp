// Where a call starts its algorithm.
#pragma once

#include <utility>

#include <chorale/core/call.hpp>
#include <chorale/core/task.hpp>

namespace chorale::calls {

/// Starts `Algorithm` over `net`. Not inline, so that a translation unit that knows of a compiled one
/// (`compiled/`) does not compile it again.
template <class Algorithm, class Net, class... Arguments>
task<> launch(Net& net, epoch now, Arguments... arguments) {
  return Algorithm::run(net, now, std::move(arguments)...);
}

}  // namespace chorale::calls
