// The time of a call by either model of a cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/simulation/machine/machine.hpp>
#include <chorale/simulation/time.hpp>

namespace sim_scale {

/// What a call was. It comes after others of the same kind, so that connections and registered memory are
/// there; all ranks begin at once.
struct outcome {
  chorale::simulation::duration time{};  ///< from the beginning to the end of the last rank
  std::uint64_t events = 0;              ///< of all these calls
  std::uint64_t messages = 0;
};

/// An algorithm of which both models are known.
struct candidate {
  chorale::operation what;
  std::string name;
  /// By ghosts: the concepts of transports are simulated. `calls` calls of each size, one size after the
  /// other over the same transport; the outcome of the last call of each.
  std::vector<outcome> (*by_ghosts)(const chorale::simulation::machine& on, int ranks,
                                    const std::vector<std::size_t>& sizes, int calls);
  /// By the full stack: the device is simulated.
  std::vector<outcome> (*by_full_stack)(const chorale::simulation::machine& on, int ranks,
                                        const std::vector<std::size_t>& sizes, int calls);
};

/// All of them, in the order of the table.
std::vector<candidate> candidates();

}  // namespace sim_scale
