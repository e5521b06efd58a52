// What is no algorithm policy is refused by name.
// expect: each argument after the transport must be an algorithm policy
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/communicator.hpp>
#include <chorale/transport/rc.hpp>

#ifdef SHOULD_FAIL
using policy = int;
#else
using policy = chorale::broadcast::flat;
#endif

static_assert(sizeof(chorale::communicator<chorale::transport::rc, policy>) > 0);
