#include "by_ghosts.hpp"

#include "../../lib/simulation/ghosts/shadow.hpp"
#include "../../lib/simulation/ghosts/world.hpp"
#include "trial.hpp"

namespace sim_scale {

outcome run_by_ghosts(const chorale::simulation::machine& on, int ranks, chorale::operation what,
                      std::size_t bytes, ghost_call begin) {
  using namespace chorale::simulation;
  ghosts::world all{on, ranks};
  ghosts::shadow in;
  ghosts::shadow out;
  const auto room = room_for(what, ranks, bytes);
  const auto signature = named(what, bytes).signature();
  outcome result;
  for (std::uint64_t number = 1; number <= 2; ++number) {
    all.gather();
    const auto since = all.end();
    const chorale::call_id now{number, signature, what};
    all.run([&](ghosts::transport& net) { return begin(net, now, bytes, in.bytes(room), out.bytes(room)); });
    result.time = all.end() - since;
  }
  result.events = all.events();
  result.messages = all.messages().messages();
  return result;
}

}  // namespace sim_scale
