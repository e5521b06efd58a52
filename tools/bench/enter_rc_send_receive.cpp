// SPDX-License-Identifier: Apache-2.0
// Every algorithm over transport::rc_send_receive.
#include <chorale/transport/rc_send_receive.hpp>

#include "contestants.hpp"

namespace bench {
template void enter<chorale::transport::rc_send_receive>(const selection&, const job&, buffers&,
                                                         contestants&);
template std::vector<listing> list<chorale::transport::rc_send_receive>();
}  // namespace bench
