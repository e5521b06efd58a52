// SPDX-License-Identifier: Apache-2.0
// <infiniband/verbs.h> without its macros, so that functions of these names can be defined; and the table
// they call.
#pragma once

#include <infiniband/verbs.h>

#include <chorale/verbs/driver.hpp>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_query_port

namespace chorale::preload {

inline const verbs::driver& soft0() noexcept {
  static const verbs::driver& table = *verbs::soft();
  return table;
}

}  // namespace chorale::preload
