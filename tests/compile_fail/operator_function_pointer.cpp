// The type of a function pointer does not say which function it is.
// expect: pass a lambda that calls the function, or give it a name
#include <chorale/core/named.hpp>

int larger(int a, int b);

#ifdef SHOULD_FAIL
inline auto op = &larger;
#else
inline auto op = chorale::named<"larger">(&larger);
#endif

auto tag() {
  return chorale::operator_tag<decltype(op)>();
}
