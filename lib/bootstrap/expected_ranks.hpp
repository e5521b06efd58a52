// SPDX-License-Identifier: Apache-2.0
// How many ranks the user says that there are.
#pragma once

namespace chorale::bootstrap {

/// CHORALE_RANKS; 0 if it is not set. @throws error errc::invalid_environment
[[nodiscard]] int expected_ranks();

}  // namespace chorale::bootstrap
