// SPDX-License-Identifier: Apache-2.0
// An operation of a transport must be awaited where it is made: one that is kept for later would look like a
// forgotten one to the waits in between.
// expect: chorale: an operation of a transport is awaited where it is made
#include <chorale/communicator.hpp>

struct own {
  static constexpr auto implements = chorale::operation::barrier;
  template <class T>
  static constexpr bool runs_on = chorale::mailbox_transport<T>;

  template <chorale::mailbox_transport Net>
  static chorale::task<> run(Net& net, chorale::call_id now) {
    const int peer = (net.rank() + 1) % net.size();
#ifdef SHOULD_FAIL
    auto arrival = net.signalled(peer, now);
    co_await net.signal(peer, now);
    co_await arrival;
#else
    co_await net.signal(peer, now);
    co_await net.signalled(peer, now);
#endif
  }
};

template class chorale::communicator<own>;
