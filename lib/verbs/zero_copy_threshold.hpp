// SPDX-License-Identifier: Apache-2.0
// The message size from which one copy by the system is faster than two through shared memory.
#pragma once

#include <algorithm>
#include <cstddef>

namespace chorale::verbs {

/// The message size in bytes from which a copy by the system from buffer to buffer is faster than two copies
/// through memory that both processes map, if each rank has a core. `call`: the fixed time of a copy by the
/// system; `byte`: the time per byte of a copy within the caches, in the same unit. The divisor fits the
/// crossover points measured on two machines (docs/comparison.md): 10 KiB with 0.9 us per call and 38 GB/s
/// per core, 64 to 128 KiB with 2.6 us and 109 GB/s. At least the payload of a default mailbox block.
[[nodiscard]] inline std::size_t zero_copy_threshold(double call, double byte) noexcept {
  constexpr double least = 10 << 10;
  constexpr double most = 128 << 10;
  if (!(byte > 0)) return static_cast<std::size_t>(most);
  return static_cast<std::size_t>(std::clamp(call / byte / 3.5, least, most));
}

}  // namespace chorale::verbs
