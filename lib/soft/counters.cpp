// SPDX-License-Identifier: Apache-2.0
#include <chorale/verbs/soft_counters.hpp>

#include "objects.hpp"

namespace chorale::verbs {

soft_counters read_soft_counters(const ibv_context* context) noexcept {
  soft::process& self = soft::process_of(context);
  const soft::segment& s = self.own();
  const soft::engine_counters& e = self.motor().counters;
  return {.qkey_violations = s.qkey_violations.load(),
          .dropped_datagrams = s.dropped_datagrams.load(),
          .held = e.held.load(),
          .overtaken = e.overtaken.load(),
          .scattered = e.scattered.load(),
          .disordered = e.disordered.load(),
          .late = e.late.load(),
          .changed = e.changed.load(),
          .reordered = e.reordered.load(),
          .lost = e.lost.load(),
          .duplicated = e.duplicated.load(),
          .context_hits = s.context_hits.load(),
          .context_misses = s.context_misses.load(),
          .datagram_levels = e.datagram_levels.load(),
          .multicast_levels = e.multicast_levels.load()};
}

}  // namespace chorale::verbs
