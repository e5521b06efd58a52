// SPDX-License-Identifier: Apache-2.0
#include <chorale/transport/rc_send_receive.hpp>

#include "compile.hpp"

namespace chorale::calls {

template struct compile<transport::rc_send_receive>;

}  // namespace chorale::calls
