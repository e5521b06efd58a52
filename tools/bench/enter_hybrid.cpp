// SPDX-License-Identifier: Apache-2.0
// The alltoall of P5 section 4.3 with increasing numbers of steps over reliable connections.
#include <chorale/transport/hybrid.hpp>

#include "contestants.hpp"

namespace bench {

namespace {

template <int Limit>
using transport = chorale::transport::hybrid<Limit, chorale::transport::path_choice::asked>;
template <int Limit>
using algorithm = chorale::alltoall::hybrid_pairwise<Limit>;

template <int... Limits>
struct limits {
  static void enter(const selection& wanted, const job& ranks, buffers& memory, contestants& all) {
    (detail::enter_one<transport<Limits>, algorithm<Limits>>(wanted, ranks, memory, all), ...);
  }
  static std::vector<listing> list() { return {entry<transport<Limits>, algorithm<Limits>>::describe()...}; }
};
using measured = limits<0, 1, 3, 7, 15>;

}  // namespace

void enter_hybrid(const selection& wanted, const job& ranks, buffers& memory, contestants& all) {
  measured::enter(wanted, ranks, memory, all);
}
std::vector<listing> list_hybrid() {
  return measured::list();
}

}  // namespace bench
