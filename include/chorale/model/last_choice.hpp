// SPDX-License-Identifier: Apache-2.0
// The last choice of an algorithm that chooses among others.
#pragma once

#include <string_view>

namespace chorale::model {

/// The algorithm of the last call.
struct last_choice {
  std::string_view name;    ///< empty if it is not known
  bool is_settled = false;  ///< the call was in no trial: the next call like it uses the same algorithm
};

}  // namespace chorale::model
