// The library has the standard algorithms over `transport::ud_rdma`: with this header nobody else compiles
// them.
#pragma once

#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/ud_rdma.hpp>

namespace chorale::calls {

extern template struct standard_algorithms<transport::ud_rdma>;

}  // namespace chorale::calls
