// SPDX-License-Identifier: Apache-2.0
// Mailbox over reliable connections by RDMA write, polled in memory; one-sided operations of the device.
#pragma once

#include <chorale/transport/one_rail.hpp>

namespace chorale::transport {

struct rc_kind {
  static constexpr const char* name = "rc";
  using mailbox = rdma_mailbox;
  static constexpr bool has_lanes = true;
};
extern template class one_rail<rc_kind>;

/// Messages are RDMA writes into blocks that the receiver polls (P2 section 4.1); a signal is an RDMA write
/// of one word (P1 section 5.1); memory operations are the device's own. Cost: one RDMA write per message,
/// plus one for each half mailbox that the receiver has read.
using rc = assembled<one_rail<rc_kind>>;

}  // namespace chorale::transport

template <>
inline constexpr bool chorale::has_compiled_algorithms<chorale::transport::rc> = true;
static_assert(chorale::multicast_transport<chorale::transport::rc>);
static_assert(chorale::window_transport<chorale::transport::rc>);
static_assert(chorale::mapping_transport<chorale::transport::rc>);
