// A call by the full stack.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/task.hpp>
#include <chorale/simulation/machine/machine.hpp>
#include <chorale/transport/rc.hpp>

#include "models.hpp"

namespace sim_scale {

/// As `begin` of trial.hpp.
using full_call = chorale::task<> (*)(chorale::transport::rc&, chorale::call_id, std::size_t,
                                      std::span<std::byte>, std::span<std::byte>);
std::vector<outcome> run_by_full_stack(const chorale::simulation::machine& on, int ranks,
                                       chorale::operation what, const std::vector<std::size_t>& sizes,
                                       int calls, full_call begin);

}  // namespace sim_scale
