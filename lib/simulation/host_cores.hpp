// SPDX-License-Identifier: Apache-2.0
// The cores of a host that has fewer cores than ranks.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <chorale/simulation/time.hpp>

#include "shared_core.hpp"

namespace chorale::simulation {

/// Assigns threads to cores as an operating system does. A thread that becomes runnable goes to the core with
/// the fewest threads, preferably the one that it had last; a core without threads takes one from the core
/// with most. Otherwise threads stay where they are. Each function returns the cores that it has changed.
class host_cores {
 public:
  host_cores(int cores, const core_costs& costs)
      : cores_(static_cast<std::size_t>(cores), shared_core{costs}) {}

  [[nodiscard]] shared_core& operator[](std::size_t core) noexcept { return cores_[core]; }
  [[nodiscard]] std::size_t count() const noexcept { return cores_.size(); }

  /// The thread is runnable from now on. @returns its core.
  std::size_t add(shared_core::thread who, std::optional<std::size_t> last, instant now);

  /// A thread that has moved to a core that was idle.
  struct move {
    shared_core::thread who;
    std::size_t from;
    std::size_t to;
  };
  /// The thread, which had `core` or was queued for it, is no longer runnable.
  std::optional<move> remove(shared_core::thread who, std::size_t core, instant now);

 private:
  std::vector<shared_core> cores_;
};

}  // namespace chorale::simulation
