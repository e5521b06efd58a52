// SPDX-License-Identifier: Apache-2.0
// The adapter and system resources of a rank's transport, by formula.
#pragma once

#include <cstdint>

#include <chorale/core/config.hpp>

namespace chorale::model {

/// Queue pairs, buffers and memory of one rank; docs/resources.md has the formulas in words.
struct resources {
  std::int64_t queue_pairs = 0;  ///< of all kinds
  std::int64_t receive_buffers =
      0;  ///< receives that are posted: for datagrams, and for all connections together
  std::int64_t registered_bytes = 0;  ///< pinned on devices that pin; excluding the user's own memory
  /// File descriptors of one communicator on soft0, as made by `split` and `duplicate`. The first of a
  /// process has more, for the device itself and its peers: docs/robustness.md.
  std::int64_t descriptors = 0;
};

/// For `transport::rc` after communication with `peers` of the `ranks - 1` others: all of them in a direct
/// alltoall, ceil(log2 ranks) in a dissemination barrier. P5 section 3.2: it grows with the peers.
resources resources_of_rc(std::int64_t ranks, std::int64_t peers, const config& settings);

/// For `transport::ud` and `ud_rdma`: independent of the peers. `mtu_bytes`: the path MTU.
resources resources_of_ud(std::int64_t ranks, int mtu_bytes);

/// For `transport::hybrid<limit>` after communication with `peers` others.
resources resources_of_hybrid(std::int64_t ranks, std::int64_t peers, std::int64_t limit,
                              const config& settings, int mtu_bytes);

}  // namespace chorale::model
