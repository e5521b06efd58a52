// SPDX-License-Identifier: Apache-2.0
#include <chorale/transport/rc.hpp>

namespace chorale::transport {

template class one_rail<rc_kind>;

}  // namespace chorale::transport
