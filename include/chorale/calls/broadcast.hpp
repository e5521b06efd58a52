// SPDX-License-Identifier: Apache-2.0
// broadcast, ibroadcast.
#pragma once

#include <chorale/calls/caller.hpp>

namespace chorale::calls {

template <class Caller>
auto broadcast(Caller& on, output data, int root) {
  on.arguments().check_root(operation::broadcast, root);
  on.arguments().check_memory(operation::broadcast, data);
  return prepared{
      call{.what = operation::broadcast, .root = root, .bytes = data.bytes.size(), .type = data.type},
      [&on, bytes = data.bytes, root](call_id now) {
        return calls::serve<operation::broadcast>(on, now, bytes, root);
      }};
}

}  // namespace chorale::calls
