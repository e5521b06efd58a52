// An address means nothing to another rank.
// expect: values of this type cannot be sent as bytes
#include <span>

#include <chorale/communicator.hpp>

#ifdef SHOULD_FAIL
using element = int*;
#else
using element = int;
#endif

void share(chorale::communicator<>& comm, std::span<element> data) {
  comm.broadcast(data, 0);
}
