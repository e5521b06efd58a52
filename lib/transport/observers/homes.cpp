#include "homes.hpp"

#include "../../core/immortal.hpp"

namespace chorale::transport {

homes& homes::all() {
  static detail::immortal<homes> of_process;
  return *of_process;
}

void homes::enter(const void* flow, observed_communicator& who) {
  const std::lock_guard hold{mutex_};
  home& mine = by_flow_.try_emplace(flow, home{who.rank, who.job, who.number, 0, true}).first->second;
  ++mine.communicators;
  who.home = mine.rank;
  who.job = mine.job;
}

void homes::leave(const void* flow, const observed_communicator& who) noexcept {
  const std::lock_guard hold{mutex_};
  const auto mine = by_flow_.find(flow);
  if (mine == by_flow_.end()) return;
  if (mine->second.number == who.number) mine->second.is_there = false;
  if (--mine->second.communicators == 0) by_flow_.erase(mine);
}

bool homes::has_lost_first(const void* flow) const {
  const std::lock_guard hold{mutex_};
  const auto mine = by_flow_.find(flow);
  return mine == by_flow_.end() || !mine->second.is_there;
}

}  // namespace chorale::transport
