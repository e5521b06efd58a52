// SPDX-License-Identifier: Apache-2.0
#include "profile_rules.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>

#include <chorale/verbs/address.hpp>

#include "mapped_memory.hpp"
#include "queue_pair_attributes.hpp"

namespace chorale::verbs {
namespace {

const profile_gid* row_of(const port_identity& own, std::uint8_t port, int index) noexcept {
  const bool is_there = port == 1 && index >= 0 && static_cast<std::uint64_t>(index) < own.gid_count;
  return is_there ? &own.gids[index] : nullptr;
}

/// Whether two members may communicate: they are in the same partition, and not both limited members.
constexpr bool share_partition(std::uint16_t one, std::uint16_t other) noexcept {
  return ((one ^ other) & 0x7fff) == 0 && ((one | other) & 0x8000) != 0;
}

}  // namespace

void keep_within(device_profile& p, const device_limits& device) noexcept {
  p.inline_bytes = std::min(p.inline_bytes, device.inline_bytes);
  p.rd_atomic = std::min(p.rd_atomic, device.rd_atomic);
  p.sges = std::min(p.sges, device.sges);
  p.depth = std::min(p.depth, device.depth);
  p.completions = std::min(p.completions, device.completions);
  p.queue_pairs = std::min(p.queue_pairs, device.queue_pairs);
  p.address_handles = std::min(p.address_handles, device.address_handles);
  p.multicast_groups = std::min(p.multicast_groups, device.multicast_groups);
  p.shared_receive_queues = std::min(p.shared_receive_queues, device.shared_receive_queues);
  p.max_message = std::min(p.max_message, device.max_message);
  p.mtu = std::min(p.mtu, device.mtu);
}

void describe(const device_profile& p, ibv_device_attr& a) noexcept {
  const auto whole = [](std::uint32_t value) { return static_cast<int>(value); };
  a.vendor_part_id = 1;
  a.max_mr_size = ~std::uint64_t{0};
  a.page_size_cap = 0xfffff000;
  a.device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_RC_RNR_NAK_GEN;
  a.phys_port_cnt = 1;
  a.max_qp = whole(p.queue_pairs);
  a.max_qp_wr = whole(p.depth);
  a.max_sge = a.max_sge_rd = whole(p.sges);
  a.max_cqe = whole(p.completions);
  a.max_qp_rd_atom = a.max_qp_init_rd_atom = whole(p.rd_atomic);
  a.atomic_cap = p.atomics;
  a.max_mcast_grp = a.max_mcast_qp_attach = a.max_total_mcast_qp_attach = whole(p.multicast_groups);
  a.max_ah = whole(p.address_handles);
  a.max_srq = whole(p.shared_receive_queues);
  a.max_srq_wr = p.shared_receive_queues == 0 ? 0 : whole(p.depth);
  a.max_srq_sge = p.shared_receive_queues == 0 ? 0 : whole(p.sges);
  a.max_pkeys = static_cast<std::uint16_t>(p.pkeys.size());
}

void describe(const device_profile& p, std::uint16_t lid, bool up, ibv_port_attr& a) noexcept {
  a.state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  a.phys_state = up ? 5 : 2;  // LinkUp, Polling
  a.max_vl_num = 1;
  a.max_mtu = a.active_mtu = p.mtu;
  a.max_msg_sz = static_cast<std::uint32_t>(std::min<std::uint64_t>(p.max_message, 1ULL << 31));
  a.gid_tbl_len = std::max(1, static_cast<int>(p.gids.size()));
  a.pkey_tbl_len = static_cast<std::uint16_t>(p.pkeys.size());
  a.active_width = p.width;
  a.active_speed = p.speed;
  a.link_layer = p.ethernet ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
  a.lid = p.ethernet ? std::uint16_t{0} : lid;
  if (p.needs_global_route) a.flags |= IBV_QPF_GRH_REQUIRED;
}

int query_pkey(const device_profile& p, std::uint8_t port, int index, __be16* pkey) noexcept {
  if (port != 1 || index < 0 || static_cast<std::size_t>(index) >= p.pkeys.size()) {
    errno = EINVAL;
    return -1;
  }
  *pkey = htons(p.pkeys[static_cast<std::size_t>(index)]);
  return 0;
}

port_identity identity_of(const device_profile& p, std::uint16_t lid, const ibv_gid& own) noexcept {
  port_identity port;
  port.subnet = p.subnet;
  port.fabric = p.fabric;
  port.ethernet = p.ethernet ? 1 : 0;
  port.lid = p.ethernet ? 0 : lid;
  if (p.gids.empty()) {
    port.gid_count = 1;
    port.gids[0].gid = own;
    port.gids[0].gid.global.subnet_prefix = htobe64(p.subnet);
  } else {
    port.gid_count = std::min(p.gids.size(), most_profile_gids);
    std::copy_n(p.gids.begin(), port.gid_count, port.gids);
  }
  return port;
}

int query_gid(const port_identity& own, std::uint8_t port, int index, ibv_gid* gid) noexcept {
  const profile_gid* const row = row_of(own, port, index);
  if (row == nullptr) {
    errno = EINVAL;
    return -1;
  }
  *gid = row->gid;
  return 0;
}

int query_gid_type(const port_identity& own, std::uint8_t port, int index, std::uint32_t* type) noexcept {
  const profile_gid* const row = row_of(own, port, index);
  if (row == nullptr) return ENODATA;
  *type = static_cast<std::uint32_t>(row->type);
  return 0;
}

bool is_group(const ibv_gid* gid, std::uint16_t lid) noexcept {
  return gid != nullptr ? is_multicast(*gid) : lid >= first_multicast_lid;
}

packet_path path_of(const ibv_ah_attr& a) noexcept {
  constexpr std::uint16_t permissive_lid = 0xffff;
  packet_path path{};
  path.global = a.is_global != 0;
  path.multicast =
      path.global ? is_multicast(a.grh.dgid) : a.dlid >= first_multicast_lid && a.dlid != permissive_lid;
  path.service_level = a.sl;
  path.hop_limit = a.grh.hop_limit;
  path.source_index = a.grh.sgid_index;
  path.lid = a.dlid;
  path.flow = static_cast<std::uint32_t>(a.grh.traffic_class) << 20 | (a.grh.flow_label & 0xfffffU);
  path.gid = a.grh.dgid;
  return path;
}

bool reaches(const port_identity& from, std::uint16_t pkey, const packet_path& path, const port_identity& to,
             std::uint16_t their_pkey) noexcept {
  if (!share_partition(pkey, their_pkey)) return false;
  if (path.multicast) return from.ethernet == to.ethernet;
  if (from.ethernet != to.ethernet || from.fabric != to.fabric) return false;
  const bool one_subnet = from.subnet == to.subnet;
  if (!path.global) return one_subnet && path.lid == to.lid;
  const std::uint64_t type = from.gids[path.source_index % most_profile_gids].type;
  const profile_gid* const end = to.gids + std::min<std::uint64_t>(to.gid_count, most_profile_gids);
  const profile_gid* const row = std::find_if(to.gids, end, [&](const profile_gid& one) {
    return std::memcmp(one.gid.raw, path.gid.raw, sizeof one.gid.raw) == 0 && one.type == type;
  });
  if (row == end) return false;
  // Routers forward neither RoCE v1 nor link-local addresses, and no InfiniBand router is simulated.
  const bool is_link_local = row->gid.raw[0] == 0xfe && (row->gid.raw[1] & 0xc0) == 0x80;
  return one_subnet || (type == 2 && !is_link_local);
}

int grant(const device_profile& p, ibv_qp_init_attr& wanted) noexcept {
  ibv_qp_cap& cap = wanted.cap;
  if (wanted.qp_type != IBV_QPT_RC && wanted.qp_type != IBV_QPT_UC &&
      (wanted.qp_type != IBV_QPT_UD || !p.datagrams))
    return EOPNOTSUPP;
  const bool own_receives = wanted.srq == nullptr;
  if (wanted.send_cq == nullptr || wanted.recv_cq == nullptr || cap.max_send_wr > p.depth ||
      cap.max_send_sge > p.sges || (own_receives && (cap.max_recv_wr > p.depth || cap.max_recv_sge > p.sges)))
    return EINVAL;
  const auto most_inline = static_cast<std::uint32_t>(std::min<std::uint64_t>(p.inline_bytes, p.max_message));
  if (cap.max_inline_data > most_inline) {
    if (!p.grants_less_inline) return EINVAL;
    cap.max_inline_data = most_inline;
  }
  return 0;
}

int check(const device_profile& p, const ibv_srq_init_attr& wanted) noexcept {
  if (p.shared_receive_queues == 0) return EOPNOTSUPP;
  return wanted.attr.max_wr == 0 || wanted.attr.max_wr > p.depth || wanted.attr.max_sge > p.sges ? EINVAL : 0;
}

int check_change(const device_profile& p, ibv_qp_type type, ibv_qp_state from, const ibv_qp_attr& a,
                 int mask) noexcept {
  if ((mask & IBV_QP_CUR_STATE) != 0 && a.cur_qp_state != from) return EINVAL;
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? a.qp_state : from;
  if (const int status = check_transition(type, from, to, mask)) return status;
  if (const int status = check_values(a, mask)) return status;
  const auto passes = [&](int bit, bool limit) { return (mask & bit) != 0 && limit; };
  if (passes(IBV_QP_PKEY_INDEX, a.pkey_index >= p.pkeys.size()) ||
      passes(IBV_QP_PATH_MTU, a.path_mtu > p.mtu) ||
      passes(IBV_QP_MAX_QP_RD_ATOMIC, a.max_rd_atomic > p.rd_atomic) ||
      passes(IBV_QP_MAX_DEST_RD_ATOMIC, a.max_dest_rd_atomic > p.rd_atomic))
    return EINVAL;
  // As mlx5 does if no mode of atomic operations is set.
  if (passes(IBV_QP_ACCESS_FLAGS,
             p.atomics == IBV_ATOMIC_NONE && (a.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) != 0))
    return EOPNOTSUPP;
  return (mask & IBV_QP_AV) != 0 ? check(p, a.ah_attr) : 0;
}

int check(const device_profile& p, const ibv_ah_attr& path) noexcept {
  if (path.port_num != 1) return EINVAL;
  if (path.is_global == 0) return p.ethernet || p.needs_global_route ? EINVAL : 0;
  return path.grh.sgid_index >= std::max<std::size_t>(1, p.gids.size()) ? EINVAL : 0;
}

int check_registration(const device_profile& p, std::uint64_t begin, std::uint64_t bytes, int access,
                       std::uint64_t locked) noexcept {
  if (const int failure = registration_failure(begin, bytes, access); failure != 0) return failure;
  // As mana does, which has no atomic operations.
  if (p.atomics == IBV_ATOMIC_NONE && (access & IBV_ACCESS_REMOTE_ATOMIC) != 0) return EINVAL;
  const bool refused =
      std::any_of(p.refused_ranges.begin(), p.refused_ranges.end(), [&](const address_range& range) {
        return begin < range.end && bytes > 0 && begin + bytes > range.begin;
      });
  if (refused || (p.refuses_files && is_mapped_file(begin, bytes))) return EFAULT;
  return bytes > p.lockable || locked > p.lockable - bytes ? ENOMEM : 0;
}

}  // namespace chorale::verbs
