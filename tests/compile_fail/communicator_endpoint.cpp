// A communicator's transport has all that algorithms and calls use of one.
// expect: the transport lacks what algorithms or calls use
#include <chorale/communicator.hpp>
#include <chorale/transport/rc.hpp>

#ifdef SHOULD_FAIL
struct transport {
  static constexpr const char* name = "half";
  int rank() const { return 0; }
  int size() const { return 1; }
};
#else
using transport = chorale::transport::rc;
#endif

static_assert(sizeof(chorale::communicator<transport>) > 0);
