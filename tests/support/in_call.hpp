// SPDX-License-Identifier: Apache-2.0
// Sends and receives a rank's messages in a call, without a collective operation.
#pragma once

#include <utility>

#include <chorale/core/call.hpp>
#include <chorale/core/task.hpp>

namespace support {

/// Runs the coroutine `body(transport, call)` to its end, as a blocking call that the other ranks of `comm`
/// make as well. Passes on the coroutine's exceptions.
template <class Comm, class Body>
void in_call(Comm& comm, Body&& body) {
  auto& net = comm.transport();
  const auto now = net.begin({.what = chorale::operation::barrier});
  chorale::task<> t = std::forward<Body>(body)(net, now);
  t.resume();
  t.result();
  net.complete(now);
}

}  // namespace support
