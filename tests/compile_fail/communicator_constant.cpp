// What is read only cannot receive.
// expect: this argument is to receive and is const
#include <span>

#include <chorale/communicator.hpp>

#ifdef SHOULD_FAIL
using data_type = std::span<const int>;
#else
using data_type = std::span<int>;
#endif

void share(chorale::communicator<>& comm, data_type data) {
  comm.broadcast(data, 0);
}
