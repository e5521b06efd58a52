// A degree-k tree is defined for k = 2^m - 1; in a constant expression another degree does not compile.
// expect: reject
#include <chorale/topology/degree_k.hpp>

#ifdef SHOULD_FAIL
constexpr int degree = 4;
#else
constexpr int degree = 3;
#endif

constexpr chorale::topology::degree_k tree{1, 8, degree};
static_assert(!tree.is_root());
