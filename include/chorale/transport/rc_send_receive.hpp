// SPDX-License-Identifier: Apache-2.0
// Mailbox over reliable connections by send and receive: the baseline of the papers.
#pragma once

#include <chorale/transport/one_rail.hpp>

namespace chorale::transport {

struct rc_send_receive_kind {
  static constexpr const char* name = "rc_send_receive";
  using mailbox = send_receive_mailbox;
  static constexpr bool has_lanes = false;
};
extern template class one_rail<rc_send_receive_kind>;

/// Works as MPI over send and receive does. Short messages are copied, matched and copied; they move by send,
/// or by RDMA write as in MVAPICH since 2003 (`config::send_receive_eager`). Long ones, above
/// `config::send_receive_eager_bytes`, each need a rendezvous with its own registrations and exchange of
/// addresses (`config::send_receive_long`); algorithms leave that to the transport. Windows use the
/// connections' one-sided and atomic operations; no algorithm uses them here. Cost: one send (or RDMA write)
/// and two copies per block; three messages and an RDMA write per long message. Source: P1 section 6, P2
/// section 6, P4 sections 3 and 5, P5 sections 2 and 5.1.1, the baselines.
using rc_send_receive = assembled<one_rail<rc_send_receive_kind>>;

}  // namespace chorale::transport

template <>
inline constexpr bool chorale::has_compiled_algorithms<chorale::transport::rc_send_receive> = true;
static_assert(chorale::multicast_transport<chorale::transport::rc_send_receive>);
static_assert(chorale::message_transport<chorale::transport::rc_send_receive>);
static_assert(!chorale::one_sided_transport<chorale::transport::rc_send_receive>);
static_assert(chorale::window_transport<chorale::transport::rc_send_receive>);
