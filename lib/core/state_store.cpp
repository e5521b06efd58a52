// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include <chorale/core/state_store.hpp>

namespace chorale {

std::size_t state_store::next_index() noexcept {
  static std::atomic<std::size_t> next{0};
  return next.fetch_add(1);
}

}  // namespace chorale
