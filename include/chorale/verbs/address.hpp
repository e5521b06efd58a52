// SPDX-License-Identifier: Apache-2.0
// The address of a port on the fabric, and the path to it.
#pragma once

#include <cstdint>
#include <string>

#include <chorale/core/sendable.hpp>
#include <chorale/verbs/device.hpp>

namespace chorale::verbs {

/// The facts about a port that other processes need in order to send to it; the bootstrap sends them as raw
/// bytes.
struct endpoint_address {
  ibv_gid gid{};
  std::uint16_t lid = 0;      ///< 0 on RoCE
  std::uint16_t pkey = 0;     ///< partition key in use, host byte order; 0: not known
  std::uint8_t mtu = 0;       ///< largest path MTU, IBV_MTU_*; 0: not known
  std::uint8_t link = 0;      ///< IBV_LINK_LAYER_*; 0: not known
  std::uint8_t gid_type = 0;  ///< IBV_GID_TYPE_*
  std::uint8_t is_soft = 0;   ///< 1 for the software device
};
static_assert(detail::sendable<endpoint_address>);

/// The local port that a path starts from.
struct local_port {
  std::uint8_t number = 1;
  int gid_index = 0;
  std::uint8_t service_level = 0;
  std::uint8_t traffic_class = 0;  ///< of packets with a GRH
  std::uint16_t pkey_index = 0;
  bool ethernet = false;       ///< RoCE: every packet carries a GRH
  bool global_only = false;    ///< the port sends with a GRH only (IBV_QPF_GRH_REQUIRED)
  endpoint_address address{};  ///< of this port
};

/// Reads the address and link layer of a port. @throws error if the port, the GID index or the index of the
/// partition key is out of range.
local_port query_local_port(const device& owner, std::uint8_t port, int gid_index,
                            std::uint8_t service_level = 0, std::uint16_t pkey_index = 0);

/// Address attributes of the path from `from` to `to`: with a GRH on RoCE, on ports that require one, between
/// subnets, and if the peer has no LID; otherwise by LID. Between subnets of InfiniBand the LID is the
/// router's, from the peer's GID (`router_lid`). For `connection::path` and `address_handle`.
ibv_ah_attr path_to(const local_port& from, const endpoint_address& to);

/// The floating LID (FLID) by which routers forward to a port of another subnet, from the site-local GID that
/// its subnet manager has assigned (16 bits after fec0::/32, followed by 16 bits for the subnet); 0 if the
/// GID has none.
std::uint16_t router_lid(const ibv_gid& of_peer) noexcept;
/// Whether two InfiniBand GIDs belong to one subnet.
bool is_same_subnet(const ibv_gid& a, const ibv_gid& b) noexcept;
/// Why packets from `from` cannot reach a port at `to`, naming both ends and the remedy; empty if no reason
/// is known. Unknown fields are ignored.
std::string why_apart(const endpoint_address& from, const endpoint_address& to);

/// Path to multicast group `group` and its LID (0 on RoCE), as the subnet manager assigned them; always with
/// a GRH.
ibv_ah_attr path_to_group(const local_port& from, const ibv_gid& group, std::uint16_t lid = 0);

/// True for ff00::/8 and IPv4-mapped 224.0.0.0/4.
bool is_multicast(const ibv_gid& gid) noexcept;
/// True for ::ffff:0:0/96, the form of RoCE v2 addresses on IPv4.
bool is_ipv4_mapped(const ibv_gid& gid) noexcept;
bool is_zero(const ibv_gid& gid) noexcept;
/// Formats it as an IPv6 address: "fe80::1", "::ffff:10.0.0.1".
std::string to_string(const ibv_gid& gid);

/// The MTU in bytes, 256 to 4096; 0 for a value outside the enumeration.
int mtu_bytes(ibv_mtu mtu) noexcept;
/// The inverse. @throws error errc::invalid_argument if `bytes` is not 256, 512, 1024, 2048 or 4096.
ibv_mtu mtu_from_bytes(int bytes);

}  // namespace chorale::verbs
