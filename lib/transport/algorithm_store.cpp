// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include <chorale/transport/algorithm_store.hpp>

namespace chorale::transport {

std::size_t algorithm_store::next_index() noexcept {
  static std::atomic<std::size_t> next{0};
  return next.fetch_add(1);
}

}  // namespace chorale::transport
