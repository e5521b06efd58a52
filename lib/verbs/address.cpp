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
}

}  // namespace

local_port query_local_port(const device& owner, std::uint8_t port, int gid_index,
                            std::uint8_t service_level) {
  if (gid_index > 255)
    throw error(errc::invalid_argument,
                fmt::format("GID index {} of {}: an address names a row in 8 bits, so at most 255", gid_index,
                            owner.name()));
  const ibv_port_attr attributes = owner.port(port);
  return {.number = port,
          .gid_index = gid_index,
          .service_level = service_level,
          .ethernet = attributes.link_layer == IBV_LINK_LAYER_ETHERNET,
          .address = {.gid = owner.gid(port, gid_index), .lid = attributes.lid}};
}

ibv_ah_attr path_to(const local_port& from, const endpoint_address& to) {
  ibv_ah_attr path = start_of_path(from);
  path.dlid = to.lid;
  const bool same_subnet = std::memcmp(from.address.gid.raw, to.gid.raw, 8) == 0;
  if (from.ethernet || to.lid == 0 || !same_subnet) add_route_header(path, from, to.gid);
  return path;
}

ibv_ah_attr path_to_group(const local_port& from, const ibv_gid& group, std::uint16_t lid) {
  ibv_ah_attr path = start_of_path(from);
  path.dlid = lid;
  add_route_header(path, from, group);
  return path;
}

bool is_ipv4_mapped(const ibv_gid& gid) noexcept {
  return std::all_of(gid.raw, gid.raw + 10, [](std::uint8_t byte) { return byte == 0; }) &&
         gid.raw[10] == 0xff && gid.raw[11] == 0xff;
}

bool is_multicast(const ibv_gid& gid) noexcept {
  return gid.raw[0] == 0xff || (is_ipv4_mapped(gid) && (gid.raw[12] & 0xf0) == 0xe0);
}

bool is_zero(const ibv_gid& gid) noexcept {
  return std::all_of(gid.raw, gid.raw + sizeof gid.raw, [](std::uint8_t byte) { return byte == 0; });
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
