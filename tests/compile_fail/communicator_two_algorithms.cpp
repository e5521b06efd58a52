// One algorithm an operation.
// expect: two algorithms are given for one operation
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/barrier/pairwise_exchange.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/communicator.hpp>
#include <chorale/transport/rc.hpp>

#ifdef SHOULD_FAIL
using second = chorale::barrier::dissemination;
#else
using second = chorale::broadcast::flat;
#endif

static_assert(
    sizeof(chorale::communicator<chorale::transport::rc, chorale::barrier::pairwise_exchange, second>) > 0);
