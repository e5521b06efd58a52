// SPDX-License-Identifier: Apache-2.0
// Membership of a RoCE port's network interface in a multicast group.
#pragma once

#include <cstdint>

#include <chorale/verbs/address.hpp>
#include <chorale/verbs/device.hpp>

namespace chorale::verbs {

/// During its lifetime the interface of a RoCE port accepts the packets of `group` and announces that to
/// switches and routers (IGMP, MLD): attaching a queue pair steers only packets that reach the port.
/// Implemented by a socket that never sends or receives. Does nothing on other ports.
class interface_membership {
 public:
  /// @throws error, a system error naming group, device and remedy, if the interface cannot join.
  interface_membership(const device& owner, const local_port& port, const ibv_gid& group);
  interface_membership(const interface_membership&) = delete;
  interface_membership& operator=(const interface_membership&) = delete;
  ~interface_membership();

 private:
  int socket_ = -1;
};

}  // namespace chorale::verbs
