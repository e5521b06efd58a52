// SPDX-License-Identifier: Apache-2.0
// Counters of the software device.
#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

namespace chorale::verbs {

/// Counters of this process's adapter `soft0` since it was first opened. The second group counts the deferred
/// engine (`CHORALE_SOFT_ENGINE=deferred`) and is 0 without it; the third is filled with that engine or if a
/// context miss has a cost (`CHORALE_SOFT_CONTEXT_MISS_NS`).
struct soft_counters {
  std::uint64_t qkey_violations = 0;    ///< datagrams refused here because of a wrong Q_Key
  std::uint64_t dropped_datagrams = 0;  ///< for lack of a large enough receive

  std::uint64_t held = 0;        ///< work requests that were executed or completed with a delay
  std::uint64_t overtaken = 0;   ///< requests executed before an earlier read or atomic operation
  std::uint64_t scattered = 0;   ///< RDMA writes placed in several parts
  std::uint64_t disordered = 0;  ///< ... whose parts were placed out of address order
  std::uint64_t late = 0;        ///< ... parts that later writes may have overtaken
  std::uint64_t changed = 0;     ///< send buffers that the program modified before their request was executed
  std::uint64_t reordered = 0;   ///< datagrams that overtook others
  std::uint64_t lost = 0;        ///< datagrams and unreliable messages dropped on purpose
  std::uint64_t duplicated = 0;  ///< datagrams sent twice on purpose

  std::uint64_t context_hits = 0;    ///< uses of a QP whose context was in the adapter's cache
  std::uint64_t context_misses = 0;  ///< ... and was not

  std::uint16_t datagram_levels = 0;   ///< bit n: datagrams to one rank may be sent at service level n
  std::uint16_t multicast_levels = 0;  ///< the same for multicast datagrams
};

/// The counters of the adapter that `context`, a context of `soft0`, is open on. Any thread.
soft_counters read_soft_counters(const ibv_context* context) noexcept;

}  // namespace chorale::verbs
