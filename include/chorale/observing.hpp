// SPDX-License-Identifier: Apache-2.0
// Hooks for profilers: observe the begin and end of every call of a communicator.
#pragma once

#include <memory>
#include <utility>

#include <chorale/core/call.hpp>
#include <chorale/transport/endpoint/endpoint.hpp>
#include <chorale/transport/observers/observed_calls.hpp>
#include <chorale/transport/observers/observer.hpp>

namespace chorale {

/// Notifies `one` of all calls of `comm` from now on, until `comm` ends or `stop_observing(comm, one)`. Calls
/// its `on_made` first. Calls already in progress are not reported.
///
///     struct counter final : chorale::observer {
///       void on_end(const chorale::observed_call& call) noexcept override { ++calls[call.what.what]; }
///       ...
///     };
///     auto count = std::make_shared<counter>();
///     chorale::observe(comm, count);
///
/// @throws error errc::misuse from inside a call of `comm`, or from a thread other than its own.
template <class Communicator>
void observe(Communicator& comm, std::shared_ptr<observer> one) {
  transport::endpoint& core = comm.transport().core();
  const transport::occupancy::entry inside{core.use(), operation::none};
  core.calls().observed().add(std::move(one));
}

/// Undoes `observe`, with the same errors; calls `on_ended` of `one` if it observed `comm`. The ends of calls
/// in progress are not reported.
template <class Communicator>
void stop_observing(Communicator& comm, const std::shared_ptr<observer>& one) {
  transport::endpoint& core = comm.transport().core();
  const transport::occupancy::entry inside{core.use(), operation::none};
  core.calls().observed().remove(one);
}

}  // namespace chorale
