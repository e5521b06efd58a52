// SPDX-License-Identifier: Apache-2.0
// Every algorithm over transport::ud.
#include <chorale/transport/ud.hpp>

#include "contestants.hpp"

namespace bench {
template void enter<chorale::transport::ud>(const selection&, const job&, buffers&, contestants&);
template std::vector<listing> list<chorale::transport::ud>();
}  // namespace bench
