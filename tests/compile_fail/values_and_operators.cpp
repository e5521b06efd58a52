// SPDX-License-Identifier: Apache-2.0
// Requirements on types that let ranks agree on values.
// expect: parts_are_elements
// expect: pass a lambda that calls the function, or give it a name
// expect: not_misused_standard_object
// expect: values of this type cannot be sent as bytes
// expect: reject
#include <span>

#include <chorale/communicator.hpp>
#include <chorale/core/named.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/core/types.hpp>
#include <chorale/topology/degree_k.hpp>

int larger(int a, int b);

#ifdef SHOULD_FAIL
using pair_of = std::pair<double, const char*>;
inline auto op = &larger;  // does not say by its type which function it is
using sum = std::minus<>;  // depends on how operands are associated
using element = int*;      // means nothing to another rank
constexpr int degree = 4;  // is no 2^m - 1
#else
using pair_of = std::pair<double, int>;
inline auto op = chorale::named<"larger">(&larger);
using sum = std::plus<>;
using element = int;
constexpr int degree = 3;
#endif

auto tag_of_type() {
  return chorale::type_tag<pair_of>();
}
auto tag_of_operator() {
  return chorale::operator_tag<decltype(op)>();
}
auto make() {
  return chorale::reduction::of<double>(sum{});
}
void share(chorale::communicator<>& comm, std::span<element> data) {
  comm.broadcast(data, chorale::root{0});
}
constexpr chorale::topology::degree_k tree{1, 8, degree};
static_assert(!tree.is_root());
