#include "cases.hpp"

namespace collectives {
CHORALE_TEST_CASES()
}  // namespace collectives
