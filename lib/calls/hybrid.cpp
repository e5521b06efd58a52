// SPDX-License-Identifier: Apache-2.0
#include <chorale/transport/hybrid.hpp>

#include "compile.hpp"

namespace chorale::calls {

template struct compile<transport::assembled<transport::hybrid_parts>>;

}  // namespace chorale::calls
