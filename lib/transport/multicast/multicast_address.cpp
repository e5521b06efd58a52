// SPDX-License-Identifier: Apache-2.0
#include "multicast_address.hpp"

#include <cstring>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

#include "../../verbs/managed_membership.hpp"

namespace chorale::transport {
namespace {

/// InfiniBand, where the subnet manager creates groups.
bool is_infiniband(const verbs::device& device, const verbs::local_port& port) noexcept {
  return !port.ethernet && !device.provider().makes_groups;
}

/// Why the port cannot join multicast groups; empty if it can.
std::string obstacle(const verbs::device& device, const verbs::local_port& port, const config& settings) {
  if (device.attributes().max_mcast_grp <= 0) return "the device has none (max_mcast_grp is 0)";
  if (!is_managed(device, port, settings))
    return is_infiniband(device, port) ? "on InfiniBand only the subnet administrator makes groups; let the "
                                         "connection manager ask it (CHORALE_MULTICAST_JOIN=rdma_cm)"
                                       : "";
  if (!verbs::managed_membership::is_built())
    return "the connection manager would have to ask for the group, and the library was built without "
           "librdmacm";
  if (port.ethernet)
    return verbs::is_ipv4_mapped(port.address.gid)
               ? ""
               : "the connection manager joins RoCE groups by IPv4 only (CHORALE_GID_INDEX, "
                 "CHORALE_MULTICAST_JOIN=attach)";
  return verbs::ipoib_interface("/sys", device.name(), port.number, port.pkey_index).empty()
             ? "the connection manager finds an InfiniBand port by its IPoIB interface, and it has none with "
               "this partition key"
             : "";
}

}  // namespace

bool is_managed(const verbs::device& device, const verbs::local_port& port, const config& settings) noexcept {
  if (device.provider().makes_groups) return false;
  return settings.multicast_join == join_policy::automatic
             ? is_infiniband(device, port)
             : settings.multicast_join == join_policy::connection_manager;
}

ibv_gid multicast_gid(const verbs::device& device, const verbs::local_port& port,
                      std::uint32_t number) noexcept {
  if (is_infiniband(device, port)) return verbs::of_subnet_administrator(number);
  ibv_gid group{};
  if (verbs::is_ipv4_mapped(port.address.gid)) {
    group.raw[10] = group.raw[11] = 0xff;
    group.raw[12] = 239;
    std::memcpy(group.raw + 13, &number, 3);
  } else {
    group.raw[0] = 0xff;
    group.raw[1] = 0x12;  // transient, link-local scope
    group.raw[11] = 0xc0;
    std::memcpy(group.raw + 12, &number, 4);
  }
  return group;
}

bool has_multicast(const verbs::device& device, const verbs::local_port& port, const config& settings) {
  return obstacle(device, port, settings).empty();
}

void require_multicast(const verbs::device& device, const verbs::local_port& port, const config& settings) {
  if (const std::string why = obstacle(device, port, settings); !why.empty())
    throw error(
        errc::unsupported,
        fmt::format("multicast on {}: {}; choose algorithms without it, such as barrier::dissemination, "
                    "broadcast::binomial and allreduce::degree_k, or a RoCE device or soft0",
                    device.name(), why));
}

}  // namespace chorale::transport
