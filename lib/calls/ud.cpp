// SPDX-License-Identifier: Apache-2.0
#include <chorale/transport/ud.hpp>

#include "compile.hpp"

namespace chorale::calls {

template struct compile<transport::ud>;

}  // namespace chorale::calls
