// SPDX-License-Identifier: Apache-2.0
// What an algorithm that chooses has chosen last.
#pragma once

#include <string_view>

namespace chorale::model {

/// The algorithm of the last call.
struct last_choice {
  std::string_view name;    ///< empty if it is not known
  bool is_settled = false;  ///< the call belonged to no trial: the next one that is alike has the same
};

}  // namespace chorale::model
