// What is no algorithm policy is refused by name.
// expect: each argument must be a transport, such as chorale::transport::rc, or an algorithm policy
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/communicator.hpp>
#include <chorale/transport/rc.hpp>

#ifdef SHOULD_FAIL
using policy = int;
#else
using policy = chorale::broadcast::flat;
#endif

static_assert(sizeof(chorale::communicator<chorale::transport::rc, policy>) > 0);
