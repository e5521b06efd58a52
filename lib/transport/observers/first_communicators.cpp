// SPDX-License-Identifier: Apache-2.0
#include "first_communicators.hpp"

#include "../../core/immortal.hpp"

namespace chorale::transport {

first_communicators& first_communicators::all() {
  static detail::immortal<first_communicators> of_process;
  return *of_process;
}

void first_communicators::enter(const void* flow, observed_communicator& who) {
  const std::lock_guard hold{mutex_};
  home& mine = by_flow_.try_emplace(flow, home{who.rank, who.job, 0}).first->second;
  ++mine.communicators;
  who.home = mine.rank;
  who.job = mine.job;
}

void first_communicators::leave(const void* flow) noexcept {
  const std::lock_guard hold{mutex_};
  const auto mine = by_flow_.find(flow);
  if (mine != by_flow_.end() && --mine->second.communicators == 0) by_flow_.erase(mine);
}

}  // namespace chorale::transport
