// SPDX-License-Identifier: Apache-2.0
// Every algorithm over transport::rc.
#include <chorale/transport/rc.hpp>

#include "contestants.hpp"

namespace bench {
template void enter<chorale::transport::rc>(const selection&, const job&, buffers&, contestants&);
template std::vector<listing> list<chorale::transport::rc>();
}  // namespace bench
