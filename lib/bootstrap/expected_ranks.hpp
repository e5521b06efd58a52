// SPDX-License-Identifier: Apache-2.0
// The number of ranks that the user expects.
#pragma once

#include <string_view>

#include <chorale/core/error.hpp>

namespace chorale::bootstrap {

/// Compares CHORALE_RANKS, if it is set, with the number of ranks; `how` says how they were started. @throws
/// error `otherwise` if they differ; errc::invalid_environment if it is not a valid number of ranks.
void require_expected_ranks(int size, errc otherwise, std::string_view how);

}  // namespace chorale::bootstrap
