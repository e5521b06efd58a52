// SPDX-License-Identifier: Apache-2.0
// barrier, ibarrier.
#pragma once

#include <chorale/calls/caller.hpp>

namespace chorale::calls {

template <class Caller>
auto barrier(Caller& on) {
  return prepared{call{.what = operation::barrier},
                  [&on](call_id now) { return calls::serve<operation::barrier>(on, now); }};
}

}  // namespace chorale::calls
