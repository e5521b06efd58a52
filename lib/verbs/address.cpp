// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <arpa/inet.h>
#include <cstring>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/verbs/address.hpp>

namespace chorale::verbs {
namespace {

ibv_ah_attr start_of_path(const local_port& from) {
  ibv_ah_attr path{};
  path.port_num = from.number;
  path.sl = from.service_level;
  return path;
}

void add_route_header(ibv_ah_attr& path, const local_port& from, const ibv_gid& to) {
  path.is_global = 1;
  path.grh.dgid = to;
  path.grh.sgid_index = static_cast<std::uint8_t>(from.gid_index);
  path.grh.hop_limit = 64;
  path.grh.traffic_class = from.traffic_class;
}

}  // namespace

local_port query_local_port(const device& owner, std::uint8_t port, int gid_index, std::uint8_t service_level,
                            std::uint16_t pkey_index) {
  if (gid_index > 255)
    throw error(errc::invalid_argument,
                fmt::format("GID index {} of {}: an address names a row in 8 bits, so at most 255", gid_index,
                            owner.name()));
  const ibv_port_attr attributes = owner.port(port);
  local_port found{.number = port,
                   .gid_index = gid_index,
                   .service_level = service_level,
                   .pkey_index = pkey_index,
                   .ethernet = attributes.link_layer == IBV_LINK_LAYER_ETHERNET,
                   .global_only = (attributes.flags & IBV_QPF_GRH_REQUIRED) != 0,
                   .address = {.gid = owner.gid(port, gid_index),
                               .lid = attributes.lid,
                               .pkey = owner.pkey(port, pkey_index),
                               .mtu = static_cast<std::uint8_t>(attributes.active_mtu),
                               .link = attributes.link_layer,
                               .is_soft = static_cast<std::uint8_t>(owner.is_soft() ? 1 : 0)}};
  std::uint32_t type = 0;
  if (found.ethernet && owner.provider().query_gid_type(owner.native(), port, gid_index, &type) == 0)
    found.address.gid_type = static_cast<std::uint8_t>(type);
  return found;
}

ibv_ah_attr path_to(const local_port& from, const endpoint_address& to) {
  ibv_ah_attr path = start_of_path(from);
  path.dlid = to.lid;
  const bool same_subnet = is_same_subnet(from.address.gid, to.gid);
  if (from.ethernet || from.global_only || to.lid == 0 || !same_subnet) add_route_header(path, from, to.gid);
  if (const std::uint16_t router = router_lid(to.gid); !from.ethernet && !same_subnet && router != 0)
    path.dlid = router;
  return path;
}

std::uint16_t router_lid(const ibv_gid& of_peer) noexcept {
  constexpr std::uint8_t site_local[4]{0xfe, 0xc0, 0, 0};
  if (std::memcmp(of_peer.raw, site_local, sizeof site_local) != 0) return 0;
  return static_cast<std::uint16_t>(of_peer.raw[4] << 8 | of_peer.raw[5]);
}

bool is_same_subnet(const ibv_gid& a, const ibv_gid& b) noexcept {
  // With a floating LID, the prefixes of a subnet differ in it.
  const std::size_t first = router_lid(a) != 0 && router_lid(b) != 0 ? 6 : 0;
  return std::memcmp(a.raw + first, b.raw + first, 8 - first) == 0;
}

ibv_ah_attr path_to_group(const local_port& from, const ibv_gid& group, std::uint16_t lid) {
  ibv_ah_attr path = start_of_path(from);
  path.dlid = lid;
  add_route_header(path, from, group);
  return path;
}

std::string to_string(const ibv_gid& gid) {
  char text[INET6_ADDRSTRLEN] = "";
  return inet_ntop(AF_INET6, gid.raw, text, sizeof text) == nullptr ? std::string{"?"} : std::string{text};
}

int mtu_bytes(ibv_mtu mtu) noexcept {
  return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << static_cast<int>(mtu) : 0;
}

ibv_mtu mtu_from_bytes(int bytes) {
  for (const ibv_mtu mtu : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096})
    if (mtu_bytes(mtu) == bytes) return mtu;
  throw error(errc::invalid_argument, fmt::format("{} bytes is no MTU: 256, 512, 1024, 2048 or 4096", bytes));
}

}  // namespace chorale::verbs
