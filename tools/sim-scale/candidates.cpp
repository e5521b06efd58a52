// SPDX-License-Identifier: Apache-2.0
#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/every_algorithm.hpp>
#include <chorale/algorithm/levels.hpp>
#include <chorale/core/type_name.hpp>

#include "trial.hpp"

namespace sim_scale {
namespace {

using ghost = chorale::simulation::ghosts::transport;
using full = chorale::transport::rc;

/// The algorithms of chorale-bench that both models can run, except those that choose among others, those
/// that differ from others on software devices only, and exchanges, whose sizes differ between ranks.
template <class Algorithm>
constexpr bool is_tried =
    Algorithm::template runs_on<ghost> && Algorithm::template runs_on<full> &&
    Algorithm::implements != chorale::operation::exchange && !requires { typename Algorithm::candidates; } &&
    !requires(const full& net) { Algorithm::suits_from(net); };

template <class Algorithm>
void add(std::vector<candidate>& all) {
  using chorale::simulation::machine;
  if constexpr (is_tried<Algorithm>)
    all.push_back(
        {Algorithm::implements, chorale::type_name<Algorithm>(), chorale::detail::goes_by_places<Algorithm>,
         chorale::needs_mapped_memory<Algorithm>,
         [](const machine& on, int ranks, const std::vector<std::size_t>& sizes, int calls) {
           return run_by_ghosts(on, ranks, Algorithm::implements, sizes, calls, &begin<Algorithm, ghost>);
         },
         [](const machine& on, int ranks, const std::vector<std::size_t>& sizes, int calls) {
           return run_by_full_stack(on, ranks, Algorithm::implements, sizes, calls, &begin<Algorithm, full>);
         }});
}

template <class... Algorithms>
std::vector<candidate> candidates_of(chorale::type_list<Algorithms...>) {
  std::vector<candidate> all;
  (add<Algorithms>(all), ...);
  return all;
}

}  // namespace

std::vector<candidate> candidates() {
  return candidates_of(chorale::every_algorithm{});
}

}  // namespace sim_scale
