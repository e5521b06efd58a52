// SPDX-License-Identifier: Apache-2.0
// Whether two ports can reach each other, judged by their addresses.
#include <fmt/format.h>

#include <chorale/verbs/address.hpp>

#include "text.hpp"

namespace chorale::verbs {
namespace {

constexpr unsigned full_member = 0x8000;

std::string subnet_of(const ibv_gid& gid) {
  ibv_gid prefix = gid;
  for (int i = 8; i < 16; ++i) prefix.raw[i] = 0;
  return to_string(prefix) + "/64";
}

std::string apart_in_partitions(std::uint16_t from, std::uint16_t to) {
  if (from == 0 || to == 0) return {};
  if (((from ^ to) & ~full_member) != 0)
    return fmt::format(
        "the partitions differ: this port is in {:#06x}, that one in {:#06x}; set CHORALE_PKEY to a "
        "partition "
        "that both are in",
        from, to);
  if (((from | to) & full_member) == 0)
    return fmt::format(
        "both ports are limited members of partition {:#06x}, which do not reach each other; set "
        "CHORALE_PKEY "
        "to another partition, or ask for full membership in the subnet manager's partition configuration",
        from);
  return {};
}

std::string apart_on_ethernet(const endpoint_address& from, const endpoint_address& to) {
  constexpr const char* remedy =
      "set CHORALE_GID_INDEX, on each host to a row of the same kind ('chorale-info' shows them), or give "
      "the "
      "network interfaces addresses of one family";
  if (from.gid_type != to.gid_type)
    return fmt::format("the RoCE versions differ: this port uses {} ({}), that one {} ({}); {}",
                       to_string(from.gid), gid_type_name(from.gid_type), to_string(to.gid),
                       gid_type_name(to.gid_type), remedy);
  if (from.gid_type == IBV_GID_TYPE_ROCE_V2 && is_ipv4_mapped(from.gid) != is_ipv4_mapped(to.gid))
    return fmt::format("the address families differ: this port uses {}, that one {}; {}", to_string(from.gid),
                       to_string(to.gid), remedy);
  return {};
}

std::string apart_on_infiniband(const endpoint_address& from, const endpoint_address& to) {
  if (is_same_subnet(from.gid, to.gid) || router_lid(to.gid) != 0) return {};
  return fmt::format(
      "the subnets differ: this port is in {}, that one in {}, and its GID names no router (FLID); set "
      "CHORALE_DEVICE or CHORALE_PORT, on each host to what is in one subnet, or CHORALE_GID_INDEX to a row "
      "with a routed GID",
      subnet_of(from.gid), subnet_of(to.gid));
}

}  // namespace

std::string why_apart(const endpoint_address& from, const endpoint_address& to) {
  if (from.link == IBV_LINK_LAYER_UNSPECIFIED || to.link == IBV_LINK_LAYER_UNSPECIFIED ||
      from.is_soft != to.is_soft)
    return {};
  if (from.link != to.link)
    return fmt::format(
        "the link layers differ: this port is {}, that one {}; set CHORALE_DEVICE, on each host to a device "
        "of "
        "the same kind",
        link_layer_name(from.link), link_layer_name(to.link));
  std::string why =
      from.link == IBV_LINK_LAYER_ETHERNET ? apart_on_ethernet(from, to) : apart_on_infiniband(from, to);
  // RoCE adapters have only the default partition.
  return why.empty() && from.link == IBV_LINK_LAYER_INFINIBAND ? apart_in_partitions(from.pkey, to.pkey)
                                                               : why;
}

}  // namespace chorale::verbs
