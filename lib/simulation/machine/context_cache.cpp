// SPDX-License-Identifier: Apache-2.0
#include "context_cache.hpp"

#include <algorithm>
#include <utility>

namespace chorale::simulation {

context_cache::context_cache(std::uint32_t count) : used_ways_(std::min(count, ways)) {
  if (count > 0) sets_.resize(std::max<std::size_t>(1, count / ways));
}

bool context_cache::use(std::uint32_t queue_pair) noexcept {
  if (sets_.empty()) {
    ++hits_;
    return true;
  }
  auto& contexts = sets_[(queue_pair * 0x9e3779b1U >> 16) % sets_.size()];
  const auto wanted = std::uint64_t{queue_pair} + 1;
  auto carried = wanted;
  for (std::uint32_t i = 0; i < used_ways_; ++i) {
    carried = std::exchange(contexts[i], carried);
    if (carried == wanted) {
      ++hits_;
      return true;
    }
  }
  ++misses_;
  return false;
}

}  // namespace chorale::simulation
