// SPDX-License-Identifier: Apache-2.0
#include "near_work.hpp"

#include <algorithm>

namespace chorale::simulation {

duration near_work::time(const piece& work, std::size_t host, instant begin) noexcept {
  if (!costs_) return work.alone;
  const duration by_core = std::max(work.alone, costs_->byte(work.elsewhere));
  if (work.bytes < costs_->uncached) return by_core;
  instant& free = free_[host];
  free = std::max(free, begin) + costs_->memory(work.bytes);
  return std::max(by_core, free - begin);
}

}  // namespace chorale::simulation
