#include <chorale/transport/connections/rail.hpp>

namespace chorale::transport {

template class rail<rdma_mailbox>;
template class rail<matched_mailbox>;

}  // namespace chorale::transport
