// SPDX-License-Identifier: Apache-2.0
#include "disturbance.hpp"

#include <algorithm>

namespace chorale::simulation::device {

disturbance::copies disturbance::datagram() noexcept {
  copies made;
  if (happens(lost_)) {
    made.count = 0;
    return made;
  }
  if (happens(repeated_)) made.count = made.late.size();
  for (std::size_t i = 0; i < made.count; ++i) made.late[i] = late(delayed_, many_magnitudes);
  return made;
}

bool disturbance::is_deaf(int rank, instant now) const noexcept {
  return std::any_of(deaf_.begin(), deaf_.end(), [=](const faults::deafness& one) {
    return one.rank == rank && one.when <= now && now < one.when + one.time;
  });
}

verbs::placement_order disturbance::placement(int host) const noexcept {
  using verbs::placement_order;
  const auto found = std::find_if(disorders_.begin(), disorders_.end(),
                                  [host](const faults::disorder& one) { return one.host == host; });
  if (found == disorders_.end()) return placement_order::ordered;
  return found->of_bytes ? placement_order::unordered : placement_order::within_request;
}

duration disturbance::late(std::uint32_t in_a_million, std::uint64_t magnitudes) noexcept {
  if (!happens(in_a_million) || longest_ <= duration::zero()) return {};
  // Delays are spread over many orders of magnitude: being late by one flight time matters as much as
  // arriving last. A few suffice for late reads.
  const auto most = static_cast<std::uint64_t>(longest_.count()) >> random_.below(magnitudes);
  return duration{static_cast<std::int64_t>(random_.below(most + 1))};
}

}  // namespace chorale::simulation::device
