// A pair travels if both of its parts can.
// expect: parts_are_elements
#include <chorale/core/types.hpp>

#ifdef SHOULD_FAIL
using found = std::pair<double, const char*>;
#else
using found = std::pair<double, int>;
#endif

auto tag() {
  return chorale::type_tag<found>();
}
