// SPDX-License-Identifier: Apache-2.0
#include <chorale/transport/rc.hpp>

#include "compile.hpp"

namespace chorale::calls {

template struct compile<transport::rc>;

}  // namespace chorale::calls
