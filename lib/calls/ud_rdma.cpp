// SPDX-License-Identifier: Apache-2.0
#include <chorale/transport/ud_rdma.hpp>

#include "compile.hpp"

namespace chorale::calls {

template struct compile<transport::ud_rdma>;

}  // namespace chorale::calls
