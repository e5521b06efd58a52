// A call by ghosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/task.hpp>
#include <chorale/simulation/machine/machine.hpp>

#include "../../lib/simulation/ghosts/transport.hpp"
#include "models.hpp"

namespace sim_scale {

/// As `begin` of trial.hpp.
using ghost_call = chorale::task<> (*)(chorale::simulation::ghosts::transport&, chorale::call_id, std::size_t,
                                       std::span<std::byte>, std::span<std::byte>);
std::vector<outcome> run_by_ghosts(const chorale::simulation::machine& on, int ranks, chorale::operation what,
                                   const std::vector<std::size_t>& sizes, int calls, ghost_call begin);

}  // namespace sim_scale
