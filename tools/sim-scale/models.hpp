// SPDX-License-Identifier: Apache-2.0
// The time of a call in both models of a cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/simulation/machine/machine.hpp>
#include <chorale/simulation/time.hpp>

namespace sim_scale {

/// The result of a call. Earlier calls of the same kind have made connections and registered memory; all
/// ranks begin simultaneously.
struct outcome {
  chorale::simulation::duration time{};  ///< from the beginning to the end of the last rank
  std::uint64_t events = 0;              ///< of all these calls
  std::uint64_t messages = 0;
  std::uint64_t adapter_bytes = 0;  ///< by ghosts: that adapters have sent in the call
};

/// An algorithm that both models can run.
struct candidate {
  chorale::operation what;
  std::string name;
  bool goes_by_places;  ///< without places it does what another one does
  bool maps_memory;     ///< so does it without mapped memory, which the full stack does not have
  /// By ghosts, which simulate the transport concepts. Makes `calls` calls of each size, one size after
  /// another over the same transport; returns the outcome of the last call of each size.
  std::vector<outcome> (*by_ghosts)(const chorale::simulation::machine& on, int ranks,
                                    const std::vector<std::size_t>& sizes, int calls);
  /// By the full stack over a simulated device.
  std::vector<outcome> (*by_full_stack)(const chorale::simulation::machine& on, int ranks,
                                        const std::vector<std::size_t>& sizes, int calls);
};

/// All candidates, in the order of the table.
std::vector<candidate> candidates();

}  // namespace sim_scale
