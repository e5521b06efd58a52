// A window needs one-sided operations, which datagrams alone have not.
// expect: this transport has no one-sided and atomic operations: take another, such as
#include <vector>

#include <chorale/communicator.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/window.hpp>

#ifdef SHOULD_FAIL
using transport = chorale::transport::ud;
#else
using transport = chorale::transport::rc;
#endif

void expose(chorale::communicator<transport>& comm, std::vector<double>& cells) {
  chorale::window shared{comm, cells};
  chorale::window<double, chorale::communicator<transport>> own{comm, 8};
}
