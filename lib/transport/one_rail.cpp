// SPDX-License-Identifier: Apache-2.0
#include <chorale/transport/one_rail.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>

namespace chorale::transport {

template class one_rail<rc_kind>;
template class one_rail<rc_send_receive_kind>;

}  // namespace chorale::transport
