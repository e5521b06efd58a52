// SPDX-License-Identifier: Apache-2.0
#include "host_cores.hpp"

#include <algorithm>

namespace chorale::simulation {
namespace {

bool has_fewer(const shared_core& a, const shared_core& b) noexcept {
  return a.runnable() < b.runnable();
}

}  // namespace

std::size_t host_cores::add(shared_core::thread who, std::optional<std::size_t> last, instant now) {
  auto chosen = std::min_element(cores_.begin(), cores_.end(), has_fewer);
  if (last && cores_[*last].runnable() == chosen->runnable())
    chosen = cores_.begin() + static_cast<std::ptrdiff_t>(*last);
  chosen->add({who, now}, now);
  return static_cast<std::size_t>(chosen - cores_.begin());
}

std::optional<host_cores::move> host_cores::remove(shared_core::thread who, std::size_t core, instant now) {
  cores_[core].remove(who, now);
  if (cores_[core].runnable() != 0) return std::nullopt;
  const auto fullest = std::max_element(cores_.begin(), cores_.end(), has_fewer);
  if (fullest->runnable() < 2) return std::nullopt;
  const auto moved = fullest->take_last(now);
  cores_[core].add(moved, now);
  return move{moved.who, static_cast<std::size_t>(fullest - cores_.begin()), core};
}

}  // namespace chorale::simulation
