// An algorithm that needs one-sided operations does not run on datagrams.
// expect: an algorithm cannot run on this transport
#include <chorale/communicator.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

struct remote_barrier {
  static constexpr auto implements = chorale::operation::barrier;
  template <class T>
  static constexpr bool runs_on = chorale::one_sided_transport<T>;
  template <chorale::one_sided_transport T>
  static chorale::task<> run(T&, chorale::call_id) {
    co_return;
  }
};

#ifdef SHOULD_FAIL
using transport = chorale::transport::ud;
#else
using transport = chorale::transport::rc;
#endif

static_assert(sizeof(chorale::communicator<transport, remote_barrier>) > 0);
