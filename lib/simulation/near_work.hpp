// SPDX-License-Identifier: Apache-2.0
// The time of work on memory that the cores of a host share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <chorale/simulation/machine/host_costs.hpp>
#include <chorale/simulation/time.hpp>

#include "../verbs/zero_copy_threshold.hpp"

namespace chorale::simulation {

/// What `near_costs` add to the copies and operators of ranks: bytes in the cache of another core come no
/// faster than between caches, and long work of all cores of a host shares the rate of its memory. Without
/// such costs they add nothing.
class near_work {
 public:
  near_work(const std::optional<near_costs>& costs, std::size_t hosts) : costs_(costs), free_(hosts) {}

  /// The message size from which one copy from buffer to buffer is faster than two through a mailbox, where
  /// it needs no system call.
  [[nodiscard]] static std::size_t zero_copy_from() noexcept { return verbs::zero_copy_threshold(0, 1); }
  [[nodiscard]] bool is_modelled() const noexcept { return costs_.has_value(); }
  /// Work that takes `alone` if a core finds its `bytes` bytes in its own caches and memory.
  struct piece {
    duration alone{};
    std::uint64_t bytes = 0;
    std::uint64_t elsewhere = 0;  ///< those of `bytes` that are in the cache of another core
  };
  /// The time of that work by a core of `host` that begins it at `begin`.
  [[nodiscard]] duration time(const piece& work, std::size_t host, instant begin) noexcept;

 private:
  std::optional<near_costs> costs_;
  std::vector<instant> free_;  ///< when the memory of each host has served all requests so far
};

}  // namespace chorale::simulation
