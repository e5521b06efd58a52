// SPDX-License-Identifier: Apache-2.0
// The table of all algorithms, and the memory that their simulation takes.
#pragma once

#include <cstddef>
#include <vector>

#include <chorale/simulation/machine/machine.hpp>

#include "options.hpp"

namespace sim_scale {

/// Prints the time of each algorithm on each group and at each size, the cost of its simulation, and the
/// fastest one; writes `wanted.table` if given.
void make_table(const options& wanted, const std::vector<candidate>& candidates,
                const chorale::simulation::machine& on);

/// Peak size in bytes of this program's heap since the last call. Counted by its own operators new and
/// delete, since the operating system only knows the peak over the whole run. One thread.
[[nodiscard]] std::size_t take_peak_of_heap() noexcept;

}  // namespace sim_scale
