// How to answer a datagram, for the providers that have no hardware to know it.
#pragma once

#include <arpa/inet.h>
#include <cstdint>

#include <infiniband/verbs.h>

namespace chorale::verbs {

/// The address of who sent the datagram of this completion. `grh` is looked at only if there is one.
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

}  // namespace chorale::verbs
