// Who has sent a datagram, as the adapter reports it.
#pragma once

#include <arpa/inet.h>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <infiniband/verbs.h>

#include <chorale/verbs/address.hpp>

namespace chorale::verbs {

/// The address of who sent the datagram of this completion, for providers that have no hardware to know it.
/// `grh` is looked at only if there is one.
inline ibv_ah_attr sender_of(const ibv_wc& wc, const ibv_grh* grh, std::uint8_t port) noexcept {
  ibv_ah_attr a{};
  a.dlid = wc.slid;
  a.sl = wc.sl;
  a.src_path_bits = wc.dlid_path_bits;
  a.port_num = port;
  if ((wc.wc_flags & IBV_WC_GRH) != 0) {
    const std::uint32_t flow = ntohl(grh->version_tclass_flow);
    a.is_global = 1;
    a.grh.dgid = grh->sgid;
    a.grh.flow_label = flow & 0xfffffU;
    a.grh.traffic_class = static_cast<std::uint8_t>(flow >> 20);
    a.grh.hop_limit = grh->hop_limit;
  }
  return a;
}

/// True if a datagram with this GRH, the 40 bytes before its data, came from the port with address `gid`.
inline bool is_from(const std::byte* grh, const ibv_gid& gid) noexcept {
  if (std::memcmp(grh + offsetof(ibv_grh, sgid), gid.raw, sizeof gid.raw) == 0) return true;
  // RoCE v2 on IPv4: the last 20 bytes are the IP header, and the others are undefined.
  constexpr std::size_t ip_header = 20;
  constexpr std::size_t ip_source = ip_header + 12;
  constexpr std::byte version_and_length{0x45};
  return is_ipv4_mapped(gid) && grh[ip_header] == version_and_length &&
         std::memcmp(grh + ip_source, gid.raw + 12, 4) == 0;
}

}  // namespace chorale::verbs
