// SPDX-License-Identifier: Apache-2.0
#include <chorale/transport/connections/rail.hpp>

namespace chorale::transport {

template class rail<rdma_mailbox>;
template class rail<send_receive_mailbox>;

}  // namespace chorale::transport
