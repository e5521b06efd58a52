// SPDX-License-Identifier: Apache-2.0
// The check of a group's size, shared by the models.
#pragma once

#include <string>

#include <chorale/core/error.hpp>
#include <chorale/topology/arithmetic.hpp>

namespace chorale::model {

inline void require_ranks(const char* function, int ranks) {
  if (ranks >= 1 && ranks <= topology::max_size) return;
  throw error(errc::invalid_argument, std::string{"model::"} + function + ": ranks is " +
                                          std::to_string(ranks) + "; it must be 1 to 2^30");
}

}  // namespace chorale::model
