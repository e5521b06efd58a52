#include "profile_rules.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "mapped_memory.hpp"

namespace chorale::verbs {

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

void describe(const device_profile& p, std::uint16_t lid, ibv_port_attr& a) noexcept {
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

port_identity identity_of(const device_profile& p, std::uint16_t lid, const ibv_gid& own) noexcept {
  port_identity port;
  port.subnet = p.subnet;
  port.fabric = p.fabric;
  port.ethernet = p.ethernet ? 1 : 0;
  port.lid = p.ethernet ? 0 : lid;
  while (port.gid_count < most_profile_gids &&
         find_gid(p, static_cast<int>(port.gid_count), own, port.gids[port.gid_count]) == 0)
    ++port.gid_count;
  return port;
}

bool reaches(const port_identity& from, const ibv_ah_attr& path, const port_identity& to) noexcept {
  if (from.ethernet != to.ethernet || from.fabric != to.fabric) return false;
  const bool one_subnet = from.subnet == to.subnet;
  if (path.is_global == 0) return one_subnet && path.dlid == to.lid;
  const std::uint64_t type = from.gids[path.grh.sgid_index % most_profile_gids].type;
  const profile_gid* const end = to.gids + std::min<std::uint64_t>(to.gid_count, most_profile_gids);
  const profile_gid* const row = std::find_if(to.gids, end, [&](const profile_gid& one) {
    return std::memcmp(one.gid.raw, path.grh.dgid.raw, sizeof one.gid.raw) == 0 && one.type == type;
  });
  if (row == end) return false;
  // Routers forward neither RoCE v1 nor link-local addresses, and no InfiniBand router is simulated.
  const bool is_link_local = row->gid.raw[0] == 0xfe && (row->gid.raw[1] & 0xc0) == 0x80;
  return one_subnet || (type == 2 && !is_link_local);
}

int find_gid(const device_profile& p, int index, const ibv_gid& own, profile_gid& found) noexcept {
  const auto row = static_cast<std::size_t>(index);
  if (index < 0 || row >= std::max<std::size_t>(1, p.gids.size())) return EINVAL;
  if (!p.gids.empty()) {
    found = p.gids[row];
  } else {
    found.gid = own;
    found.gid.global.subnet_prefix = htobe64(p.subnet);
    found.type = 0;
  }
  return 0;
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

int check(const device_profile& p, const ibv_qp_attr& a, int mask) noexcept {
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
