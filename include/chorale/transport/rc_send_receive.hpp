// Mailbox over reliable connections by send and receive: what the papers compare with.
#pragma once

#include <chorale/transport/one_rail.hpp>

namespace chorale::transport {

struct rc_send_receive_kind {
  static constexpr const char* name = "rc_send_receive";
  using mailbox = matched;
};
extern template class one_rail<rc_send_receive_kind>;

/// What an MPI over send and receive does: copy, match, copy. One-sided and atomic operations are those of
/// the connections. Cost: one send and two copies a message.  Source: P1 section 6, P2 section 6 and P5
/// section 2, the baselines.
using rc_send_receive = assembled<one_rail<rc_send_receive_kind>>;

}  // namespace chorale::transport

template <>
inline constexpr bool chorale::has_compiled_algorithms<chorale::transport::rc_send_receive> = true;
static_assert(chorale::multicast_transport<chorale::transport::rc_send_receive>);
static_assert(chorale::window_transport<chorale::transport::rc_send_receive>);
