// Mailbox over reliable connections by send and receive: what the papers compare with.
#pragma once

#include <chorale/transport/one_rail.hpp>

namespace chorale::transport {

struct rc_send_receive_kind {
  static constexpr const char* name = "rc_send_receive";
  using mailbox = matched;
};
extern template class one_rail<rc_send_receive_kind>;

/// What an MPI over send and receive does. Short messages: copy, match, copy; by send, or by RDMA write as
/// MVAPICH since 2003 (`config::send_receive_eager`). Long ones, above
/// `config::send_receive_eager_bytes`: a rendezvous for each, with its registrations and its exchange of the
/// address in that step (`config::send_receive_long`); algorithms leave them to the transport. One-sided and
/// atomic operations of windows are those of the connections; no algorithm uses them here. Cost: one send (or
/// one RDMA write) and two copies for each block; three messages and an RDMA write for each long message.
/// Source: P1 section 6, P2 section 6, P4 sections 3 and 5, P5 sections 2 and 5.1.1, the baselines.
using rc_send_receive = assembled<one_rail<rc_send_receive_kind>>;

}  // namespace chorale::transport

template <>
inline constexpr bool chorale::has_compiled_algorithms<chorale::transport::rc_send_receive> = true;
static_assert(chorale::multicast_transport<chorale::transport::rc_send_receive>);
static_assert(chorale::message_transport<chorale::transport::rc_send_receive>);
static_assert(!chorale::one_sided_transport<chorale::transport::rc_send_receive>);
static_assert(chorale::window_transport<chorale::transport::rc_send_receive>);
