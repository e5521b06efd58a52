// SPDX-License-Identifier: Apache-2.0
// Objects with stable addresses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "../large_pages.hpp"

namespace chorale::simulation::ghosts {

/// Grows by ever larger pieces, so that few objects take little memory and many lie in large pages.
template <class T>
class steady {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  T& add() {
    if (pieces_.empty() || pieces_.back().size() == pieces_.back().capacity()) {
      const auto room = pieces_.empty() ? least : std::min(2 * pieces_.back().capacity(), most);
      pieces_.emplace_back().reserve(room);
    }
    ++size_;
    return pieces_.back().emplace_back();
  }

 private:
  static constexpr std::size_t least = 16;
  static constexpr std::size_t most = 65536;

  std::vector<std::vector<T, in_large_pages<T>>> pieces_;
  std::size_t size_ = 0;
};

}  // namespace chorale::simulation::ghosts
