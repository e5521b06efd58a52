// SPDX-License-Identifier: Apache-2.0
// A communicator has one transport, with everything that algorithms and calls need of it, and at most one
// algorithm per operation, which can run on that transport.
// expect: the transport lacks what algorithms or calls use
// expect: an algorithm cannot run on this transport
// expect: each argument must be a transport, such as chorale::transport::rc, or an algorithm policy
// expect: two algorithms are given for one operation
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/barrier/pairwise_exchange.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/communicator.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

struct half {
  static constexpr const char* name = "half";
  int rank() const { return 0; }
  int size() const { return 1; }
};
struct remote_barrier {
  static constexpr auto implements = chorale::operation::barrier;
  template <class T>
  static constexpr bool runs_on = chorale::one_sided_transport<T>;
  template <chorale::one_sided_transport T>
  static chorale::task<> run(T&, chorale::call_id) {
    co_return;
  }
};

using chorale::communicator;
using chorale::transport::rc;
using first = chorale::barrier::pairwise_exchange;
#ifdef SHOULD_FAIL
static_assert(sizeof(communicator<half>) > 0);
static_assert(sizeof(communicator<chorale::transport::ud, remote_barrier>) > 0);
static_assert(sizeof(communicator<rc, int>) > 0);
static_assert(sizeof(communicator<rc, first, chorale::barrier::dissemination>) > 0);
#else
static_assert(sizeof(communicator<rc>) > 0);
static_assert(sizeof(communicator<rc, remote_barrier>) > 0);
static_assert(sizeof(communicator<rc, chorale::broadcast::flat>) > 0);
static_assert(sizeof(communicator<rc, first, chorale::broadcast::flat>) > 0);
#endif
