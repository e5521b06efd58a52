// SPDX-License-Identifier: Apache-2.0
#include "allgather.hpp"

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/recursive_doubling.hpp>

#include "require_ranks.hpp"

namespace chorale::model {

double recursive_doubling_allgather(int ranks, std::size_t bytes, const hockney_costs& costs) {
  require_ranks("recursive_doubling_allgather", ranks);
  const double blocks = topology::is_power_of_two(ranks) ? ranks - 1.0 : 2.0 * ranks - 1;
  return topology::recursive_doubling::steps_of(ranks) * costs.startup +
         blocks * static_cast<double>(bytes) * costs.byte;
}

double ring_allgather(int ranks, std::size_t bytes, const hockney_costs& costs) {
  require_ranks("ring_allgather", ranks);
  return (ranks - 1) * (costs.startup + static_cast<double>(bytes) * costs.byte);
}

}  // namespace chorale::model
