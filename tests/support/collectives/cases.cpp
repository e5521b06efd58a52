// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace collectives {
CHORALE_TEST_CASES()
}  // namespace collectives
