// SPDX-License-Identifier: Apache-2.0
#include "paper_models.hpp"

#include <algorithm>
#include <string>

#include <chorale/core/error.hpp>
#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/degree_k.hpp>
#include <chorale/topology/recursive_doubling.hpp>

namespace chorale::model {
namespace {

void require_ranks(const char* function, int ranks) {
  if (ranks >= 1 && ranks <= topology::max_size) return;
  throw error(errc::invalid_argument, std::string{"model::"} + function + ": ranks is " +
                                          std::to_string(ranks) + "; it must be 1 to 2^30");
}

}  // namespace

double broadcast_step(std::size_t bytes, std::size_t block, const event_costs& costs) {
  if (block < 2)
    throw error(errc::invalid_argument, "model::broadcast_step: block is " + std::to_string(block) +
                                            "; it must be 2 bytes at least, the last of which counts blocks");
  const std::size_t payload = block - 1;
  const std::size_t before_last = bytes == 0 ? 0 : (bytes - 1) / payload;
  const auto first = static_cast<double>(std::min(bytes, payload));
  const auto last = static_cast<double>(bytes - before_last * payload);
  const auto blocks = static_cast<double>(before_last + 1);
  return costs.library + costs.descriptor + 2 * (costs.startup + costs.adapter) +
         (first + last) * costs.copy_byte + static_cast<double>(bytes) * costs.transmit_byte +
         blocks * costs.acknowledgement;
}

double binomial_broadcast(int ranks, std::size_t bytes, std::size_t block, const event_costs& costs) {
  require_ranks("binomial_broadcast", ranks);
  return topology::ceil_log2(ranks) * broadcast_step(bytes, block, costs);
}

best_and_worst degree_k_reduce(int ranks, int k, std::size_t bytes, const event_costs& costs) {
  require_ranks("degree_k_reduce", ranks);
  const auto message = static_cast<double>(bytes);
  const double transmit = message * costs.transmit_byte;
  const double combine = message * costs.combine_byte;
  const double arrives = costs.startup + costs.adapter;
  const double one = costs.library + costs.descriptor + arrives + arrives + transmit + combine;
  const double further = std::max(costs.startup, transmit);
  const double delay = combine + (transmit < arrives ? costs.adapter : 0);
  best_and_worst total;
  const topology::degree_k head{0, ranks, k};
  for (int step = 0; step < head.steps(); ++step) {
    const int others = head.children(step).size() - 1;
    total.best += one + others * further;
    total.worst += one + others * (further + delay);
  }
  if (head.steps() == 0) return total;
  const double copies = 2 * message * costs.copy_byte;
  return {total.best + copies, total.worst + copies};
}

best_and_worst degree_k_allreduce(int ranks, int k, std::size_t bytes, std::size_t block,
                                  const event_costs& costs) {
  const auto up = degree_k_reduce(ranks, k, bytes, costs);
  const double down = binomial_broadcast(ranks, bytes, block, costs);
  return {up.best + down, up.worst + down};
}

int best_degree(int ranks, std::size_t bytes, const event_costs& costs) {
  require_ranks("best_degree", ranks);
  int best = 1;
  double least = degree_k_reduce(ranks, 1, bytes, costs).best;
  for (long long k = 3; k / 2 < ranks - 1; k = 2 * k + 1) {
    const double time = degree_k_reduce(ranks, static_cast<int>(k), bytes, costs).best;
    if (time >= least) continue;
    least = time;
    best = static_cast<int>(k);
  }
  return best;
}

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
