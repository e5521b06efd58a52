// The library has the standard algorithms over `transport::ud_rdma`: with this header nobody else compiles
// them.
#pragma once

#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/ud_rdma.hpp>

namespace chorale::calls {

CHORALE_STANDARD_ALGORITHMS(extern template, transport::ud_rdma);

}  // namespace chorale::calls
