// SPDX-License-Identifier: Apache-2.0
#include "../../lib/simulation/ghosts/shadow.hpp"
#include "../../lib/simulation/ghosts/world.hpp"
#include "trial.hpp"

namespace sim_scale {

std::vector<outcome> run_by_ghosts(const chorale::simulation::machine& on, int ranks, chorale::operation what,
                                   const std::vector<std::size_t>& sizes, int calls, ghost_call begin) {
  using namespace chorale::simulation;
  ghosts::world all{on, ranks};
  ghosts::shadow in;
  ghosts::shadow out;
  std::uint64_t number = 0;
  std::vector<outcome> results;
  for (const std::size_t bytes : sizes) {
    const auto room = room_for(what, ranks, bytes);
    const auto signature = named(what, bytes).signature();
    outcome result;
    for (int call = 0; call < calls; ++call) {
      all.gather();
      const auto since = all.end();
      const auto sent = all.messages().adapter_bytes();
      const chorale::call_id now{++number, signature, what};
      all.run(
          [&](ghosts::transport& net) { return begin(net, now, bytes, in.bytes(room), out.bytes(room)); });
      result.time = all.end() - since;
      result.adapter_bytes = all.messages().adapter_bytes() - sent;
    }
    result.events = all.events();
    result.messages = all.messages().messages();
    results.push_back(result);
  }
  return results;
}

}  // namespace sim_scale
