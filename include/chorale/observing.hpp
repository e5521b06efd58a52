// Hooks for profilers: see every call of a communicator begin and end.
#pragma once

#include <memory>
#include <utility>

#include <chorale/core/call.hpp>
#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/observers/observed_calls.hpp>
#include <chorale/transport/observers/observer.hpp>

namespace chorale {

/// From now on `one` is told of the calls of `comm`, until that ends or `stop_observing(comm, one)`: its
/// `on_made` is called first. It is not told of calls that are under way.
///
///     struct counter final : chorale::observer {
///       void on_end(const chorale::observed_call& call) noexcept override { ++calls[call.what.what]; }
///       ...
///     };
///     auto count = std::make_shared<counter>();
///     chorale::observe(comm, count);
///
/// @throws error errc::misuse from inside a call of `comm`, or by a thread other than its own.
template <class Communicator>
void observe(Communicator& comm, std::shared_ptr<observer> one) {
  transport::endpoint& core = comm.transport().core();
  const transport::occupancy::entry inside{core.use(), operation::none};
  core.calls().observed().add(std::move(one));
}

/// The reverse, with the same errors; its `on_ended` is called if it was told of `comm`. Calls that are under
/// way do not tell it of their end.
template <class Communicator>
void stop_observing(Communicator& comm, const std::shared_ptr<observer>& one) {
  transport::endpoint& core = comm.transport().core();
  const transport::occupancy::entry inside{core.use(), operation::none};
  core.calls().observed().remove(one);
}

}  // namespace chorale
