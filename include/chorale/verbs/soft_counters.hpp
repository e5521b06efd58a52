// What the software device counted.
#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

namespace chorale::verbs {

/// Counts of this process's adapter `soft0` since it was opened first. The second group is of the deferred
/// engine (`CHORALE_SOFT_ENGINE=deferred`), and 0 without it; the third of that or where a miss costs
/// something (`CHORALE_SOFT_CONTEXT_MISS_NS`).
struct soft_counters {
  std::uint64_t qkey_violations = 0;    ///< datagrams refused here for their Q_Key
  std::uint64_t dropped_datagrams = 0;  ///< for want of a receive that is long enough

  std::uint64_t held = 0;        ///< work requests executed or completed later than they were posted
  std::uint64_t overtaken = 0;   ///< requests executed before an earlier read or atomic operation
  std::uint64_t scattered = 0;   ///< RDMA writes placed in several parts
  std::uint64_t disordered = 0;  ///< ... and their parts in another order than that of their addresses
  std::uint64_t changed = 0;     ///< send buffers that the program changed before their request was executed
  std::uint64_t reordered = 0;   ///< datagrams that overtook others
  std::uint64_t lost = 0;        ///< datagrams and unreliable messages that were lost on purpose
  std::uint64_t duplicated = 0;  ///< datagrams sent twice on purpose

  std::uint64_t context_hits = 0;    ///< uses of a QP whose context the adapter's cache held
  std::uint64_t context_misses = 0;  ///< ... and did not hold

  std::uint16_t datagram_levels = 0;   ///< bit n: datagrams to one rank may leave at service level n
  std::uint16_t multicast_levels = 0;  ///< the same of those to a group
};

/// The counters of the adapter that `context`, a context of `soft0`, is open on. Any thread.
soft_counters read_soft_counters(const ibv_context* context) noexcept;

}  // namespace chorale::verbs
