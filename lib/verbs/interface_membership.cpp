// SPDX-License-Identifier: Apache-2.0
#include "interface_membership.hpp"

#include <cerrno>
#include <cstring>
#include <net/if.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

#include "../core/streams_reserved.hpp"
#include "../core/system_files.hpp"
#include "failure.hpp"

namespace chorale::verbs {
namespace {

/// The interface to which the row of the GID table belongs; 0 if the kernel does not report it.
unsigned interface_of(const device& owner, const local_port& port) {
  const std::string interface = detail::word_of_system(fmt::format(
      "/sys/class/infiniband/{}/ports/{}/gid_attrs/ndevs/{}", owner.name(), port.number, port.gid_index));
  return interface.empty() ? 0 : if_nametoindex(interface.c_str());
}

int join(int socket, const ibv_gid& group, bool ipv4, unsigned interface) {
  if (ipv4) {
    ip_mreqn wanted{};
    std::memcpy(&wanted.imr_multiaddr, group.raw + 12, sizeof wanted.imr_multiaddr);
    wanted.imr_ifindex = static_cast<int>(interface);
    return setsockopt(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, &wanted, sizeof wanted);
  }
  ipv6_mreq wanted{};
  std::memcpy(&wanted.ipv6mr_multiaddr, group.raw, sizeof wanted.ipv6mr_multiaddr);
  wanted.ipv6mr_interface = interface;
  return setsockopt(socket, IPPROTO_IPV6, IPV6_JOIN_GROUP, &wanted, sizeof wanted);
}

}  // namespace

interface_membership::interface_membership(const device& owner, const local_port& port,
                                           const ibv_gid& group) {
  if (!port.ethernet || owner.provider().makes_groups) return;
  const bool ipv4 = is_ipv4_mapped(group);
  const unsigned interface = interface_of(owner, port);
  const std::string what =
      fmt::format("group {} on port {} of {}", to_string(group), port.number, owner.name());
  if (interface == 0)
    fail(ENODEV, "joining a multicast group", what,
         "the kernel names no network interface for this row of the GID table: choose another, "
         "CHORALE_GID_INDEX");
  socket_ = detail::above_streams(
      [&] { return ::socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0); });
  if (socket_ < 0)
    fail(errno, "a socket to join a multicast group", what, "raise 'ulimit -n' if files are short");
  if (join(socket_, group, ipv4, interface) != 0) {
    const int failure = errno;
    ::close(socket_);
    fail(failure, "joining a multicast group", what,
         "the interface must be up and able to multicast (ip link shows UP and MULTICAST)");
  }
}

interface_membership::~interface_membership() {
  if (socket_ >= 0) ::close(socket_);
}

}  // namespace chorale::verbs
