// The barrier that a communicator has if none is chosen.
#pragma once

#include <chorale/algorithm/barrier/central.hpp>
#include <chorale/algorithm/barrier/dissemination.hpp>

namespace chorale::barrier {

/// Dissemination; where ranks outnumber the cores, central. Every rank of a group chooses alike.
struct standard {
  static constexpr auto implements = operation::barrier;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport T>
  static task<> run(T& net, epoch now) {
    if constexpr (requires { net.oversubscribed(); }) {
      if (net.oversubscribed()) return central::run(net, now);
    }
    return dissemination::run(net, now);
  }
};

}  // namespace chorale::barrier
