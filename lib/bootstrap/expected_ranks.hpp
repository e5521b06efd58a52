// SPDX-License-Identifier: Apache-2.0
// How many ranks the user says that there are.
#pragma once

#include <string_view>

#include <chorale/core/error.hpp>

namespace chorale::bootstrap {

/// Compares CHORALE_RANKS, if it is set, with the number of ranks; `how` says how they came to be. @throws
/// error `otherwise` if they differ; errc::invalid_environment if it is no number of ranks.
void require_expected_ranks(int size, errc otherwise, std::string_view how);

}  // namespace chorale::bootstrap
