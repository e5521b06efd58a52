// What a rank's transport takes from the adapter and the system, by formula.
#pragma once

#include <cstdint>

#include <chorale/core/config.hpp>

namespace chorale::model {

/// Queue pairs, buffers and memory of one rank; docs/resources.md has the formulas in words.
struct resources {
  std::int64_t queue_pairs = 0;  ///< of all kinds
  std::int64_t receive_buffers =
      0;  ///< receives that are posted: datagrams, and for all connections together
  std::int64_t registered_bytes = 0;  ///< pinned on devices that pin; without the user's own memory
  /// File descriptors of one communicator on soft0, as `split` and `duplicate` make it. The first of a
  /// process has more, since the device itself and its peers have some: docs/robustness.md.
  std::int64_t descriptors = 0;
};

/// Of `transport::rc` after `peers` of the `ranks - 1` others have been talked to: all of them by a direct
/// alltoall, ceil(log2 ranks) by a dissemination barrier. P5 section 3.2: it grows with the peers.
resources resources_of_rc(std::int64_t ranks, std::int64_t peers, const config& settings);

/// Of `transport::ud` and `ud_rdma`: bounded, whoever is talked to. `mtu_bytes`: the path MTU.
resources resources_of_ud(std::int64_t ranks, int mtu_bytes);

/// Of `transport::hybrid<limit>` after `peers` have been talked to.
resources resources_of_hybrid(std::int64_t ranks, std::int64_t peers, std::int64_t limit,
                              const config& settings, int mtu_bytes);

}  // namespace chorale::model
