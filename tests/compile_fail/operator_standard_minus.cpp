// The result of a subtraction depends on how its operands are associated.
// expect: not_misused_standard_object
#include <chorale/core/reduction.hpp>

#ifdef SHOULD_FAIL
using op = std::minus<>;
#else
using op = std::plus<>;
#endif

auto make() {
  return chorale::reduction::of<double>(op{});
}
