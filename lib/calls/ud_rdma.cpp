#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/ud_rdma.hpp>

namespace chorale::calls {

template struct standard_algorithms<transport::ud_rdma>;

}  // namespace chorale::calls
