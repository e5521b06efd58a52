#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/ud_rdma.hpp>

namespace chorale::calls {

CHORALE_STANDARD_ALGORITHMS(template, transport::ud_rdma);

}  // namespace chorale::calls
