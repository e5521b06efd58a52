// SPDX-License-Identifier: Apache-2.0
// The sender of a datagram, as the adapter reports it.
#pragma once

#include <arpa/inet.h>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <infiniband/verbs.h>

#include <chorale/verbs/address.hpp>

namespace chorale::verbs {

/// On RoCE v2 with IPv4 the last 20 bytes of a GRH are the IP header, and the others are undefined.
struct ipv4_grh {
  std::uint8_t undefined[20];
  std::uint8_t version_and_length;
  std::uint8_t service;
  std::uint16_t length;
  std::uint16_t id;
  std::uint16_t fragment;
  std::uint8_t hops;
  std::uint8_t protocol;
  std::uint16_t checksum;
  std::uint8_t source[4];
  std::uint8_t destination[4];
};
static_assert(sizeof(ipv4_grh) == sizeof(ibv_grh));
inline constexpr std::uint8_t ipv4_version_and_length = 0x45;

/// The address of the sender of the datagram with this completion, for software devices. `grh` is read only
/// if the completion says that there is one.
inline ibv_ah_attr sender_of(const ibv_wc& wc, const ibv_grh* grh, std::uint8_t port) noexcept {
  ibv_ah_attr a{};
  a.dlid = wc.slid;
  a.sl = wc.sl;
  a.src_path_bits = wc.dlid_path_bits;
  a.port_num = port;
  if ((wc.wc_flags & IBV_WC_GRH) == 0) return a;
  a.is_global = 1;
  const std::uint32_t flow = ntohl(grh->version_tclass_flow);
  ipv4_grh four;
  std::memcpy(&four, grh, sizeof four);
  if (flow >> 28 != 6 && four.version_and_length == ipv4_version_and_length) {
    a.grh.dgid.raw[10] = a.grh.dgid.raw[11] = 0xff;
    std::memcpy(a.grh.dgid.raw + 12, four.source, sizeof four.source);
    a.grh.traffic_class = four.service;
    a.grh.hop_limit = four.hops;
    return a;
  }
  a.grh.dgid = grh->sgid;
  a.grh.flow_label = flow & 0xfffffU;
  a.grh.traffic_class = static_cast<std::uint8_t>(flow >> 20);
  a.grh.hop_limit = grh->hop_limit;
  return a;
}

/// ibv_create_ah_from_wc of a device whose ibv_create_ah is `Create`.
template <ibv_ah* (*Create)(ibv_pd*, ibv_ah_attr*) noexcept>
ibv_ah* create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port) noexcept {
  ibv_ah_attr a = sender_of(*wc, grh, port);
  return Create(pd, &a);
}

/// True if a datagram with this GRH, the 40 bytes before its data, came from the port with address `gid`.
inline bool is_from(const std::byte* grh, const ibv_gid& gid) noexcept {
  if (std::memcmp(grh + offsetof(ibv_grh, sgid), gid.raw, sizeof gid.raw) == 0) return true;
  return is_ipv4_mapped(gid) &&
         grh[offsetof(ipv4_grh, version_and_length)] == std::byte{ipv4_version_and_length} &&
         std::memcmp(grh + offsetof(ipv4_grh, source), gid.raw + 12, 4) == 0;
}

}  // namespace chorale::verbs
