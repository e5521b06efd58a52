// SPDX-License-Identifier: Apache-2.0
// Every algorithm over transport::ud_rdma.
#include <chorale/transport/ud_rdma.hpp>

#include "contestants.hpp"

namespace bench {
template void enter<chorale::transport::ud_rdma>(const selection&, const job&, buffers&, contestants&);
template std::vector<listing> list<chorale::transport::ud_rdma>();
}  // namespace bench
