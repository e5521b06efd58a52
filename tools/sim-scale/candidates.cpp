#include <chorale/core/type_name.hpp>

#include "by_full_stack.hpp"
#include "by_ghosts.hpp"
#include "models.hpp"
#include "trial.hpp"

namespace sim_scale {
namespace {

template <class... Algorithms>
std::vector<candidate> candidates_of(chorale::type_list<Algorithms...>) {
  using chorale::simulation::machine;
  return {candidate{Algorithms::implements, chorale::type_name<Algorithms>(),
                    [](const machine& on, int ranks, std::size_t bytes) {
                      return run_by_ghosts(on, ranks, Algorithms::implements, bytes,
                                           &begin<Algorithms, chorale::simulation::ghosts::transport>);
                    },
                    [](const machine& on, int ranks, const std::vector<std::size_t>& sizes) {
                      return run_by_full_stack(on, ranks, Algorithms::implements, sizes,
                                               &begin<Algorithms, chorale::transport::rc>);
                    }}...};
}

}  // namespace

std::vector<candidate> candidates() {
  return candidates_of(algorithms{});
}

}  // namespace sim_scale
