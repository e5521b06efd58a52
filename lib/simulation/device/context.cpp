#include "context.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unistd.h>

#include "completions.hpp"
#include "events.hpp"
#include "fabric.hpp"
#include "post.hpp"
#include "queue_pairs.hpp"

namespace chorale::simulation::device {
namespace {

/// An OUI of the range that anyone may choose from (bit 0x02 of its first byte), so no vendor's.
constexpr std::uint32_t vendor_id = 0x067369;
constexpr int plenty = 1 << 24;

bool is_only_row(std::uint8_t port, int index) noexcept {
  return port == 1 && index == 0;
}

}  // namespace

ibv_device** get_device_list(int* count) noexcept {
  fabric* const all = fabric::current();
  auto** const list = static_cast<ibv_device**>(std::calloc(2, sizeof(ibv_device*)));
  if (list == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  if (all != nullptr) list[0] = &all->here().device();
  if (count != nullptr) *count = all != nullptr ? 1 : 0;
  return list;
}

void free_device_list(ibv_device** list) noexcept {
  std::free(list);
}

ibv_context* open_device(ibv_device* which) noexcept {
  if (fabric::current() == nullptr) {
    errno = ENODEV;
    return nullptr;
  }
  return unless_short([&]() -> ibv_context* {
    auto c = std::make_unique<context>();
    c->async_fd = make_event_file();
    if (c->async_fd < 0) return nullptr;
    c->nic = &hca::of(*which);
    c->rank = c->nic->owner().time().current_rank();
    c->device = which;
    c->cmd_fd = -1;
    c->num_comp_vectors = 1;
    pthread_mutex_init(&c->mutex, nullptr);
    c->ops.poll_cq = poll_cq;
    c->ops.req_notify_cq = req_notify_cq;
    c->ops.post_send = post_send;
    c->ops.post_recv = post_recv;
    c->ops.post_srq_recv = post_srq_recv;
    return c.release();
  });
}

int close_device(ibv_context* base) noexcept {
  std::unique_ptr<context> c{&context::of(base)};
  close(c->async_fd);
  pthread_mutex_destroy(&c->mutex);
  if (c->objects == 0) return 0;
  // Programs close a device and leave objects of it behind; the kernel then takes them away. Here no peer
  // reaches them any more, while their memory stays: the program has pointers to it.
  c->async_fd = -1;
  reset_all(*c);
  fabric& all = c->nic->owner();
  try {
    all.keep(std::move(c));
    return 0;
  } catch (...) {
    return ENOMEM;
  }
}

bool copies_by_core(ibv_context* c) noexcept {
  return hca_of(c).owner().copies().any();
}

bool keeps_order(ibv_context* c) noexcept {
  return hca_of(c).placement == verbs::placement_order::ordered;
}

std::size_t zero_copy_from(ibv_context* c) noexcept {
  return hca_of(c).owner().copies().zero_copy_from();
}

int query_device(ibv_context* c, ibv_device_attr* a) noexcept {
  *a = {};
  std::snprintf(a->fw_ver, sizeof a->fw_ver, "1.0");
  a->node_guid = a->sys_image_guid = hca_of(c).gid().global.interface_id;
  a->vendor_id = vendor_id;
  a->vendor_part_id = 1;
  a->max_mr_size = ~std::uint64_t{0};
  a->page_size_cap = 0xfffff000;
  a->max_qp = static_cast<int>(multicast_queue_pair - first_queue_pair);
  a->max_qp_wr = static_cast<int>(max_work_requests);
  a->device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_RC_RNR_NAK_GEN;
  a->max_sge = a->max_sge_rd = static_cast<int>(max_sge);
  a->max_cq = plenty;
  a->max_cqe = static_cast<int>(max_completions);
  a->max_mr = static_cast<int>(max_regions);
  a->max_pd = plenty;
  a->max_qp_rd_atom = a->max_qp_init_rd_atom = static_cast<int>(max_reads);
  a->max_res_rd_atom = plenty;
  a->atomic_cap = IBV_ATOMIC_HCA;
  a->max_mcast_grp = a->max_mcast_qp_attach = a->max_total_mcast_qp_attach =
      hca_of(c).owner().costs().costs().multicast ? plenty : 0;
  a->max_ah = plenty;
  a->max_srq = plenty;
  a->max_srq_wr = static_cast<int>(max_work_requests);
  a->max_srq_sge = static_cast<int>(max_sge);
  a->max_pkeys = 1;
  a->phys_port_cnt = 1;
  return 0;
}

int query_port(ibv_context* c, std::uint8_t port, ibv_port_attr* a) noexcept {
  if (port != 1) return EINVAL;
  const hca& nic = hca_of(c);
  nic.owner().time().settle();
  *a = {};
  a->state = IBV_PORT_ACTIVE;
  a->max_mtu = a->active_mtu = nic.owner().costs().mtu();
  a->gid_tbl_len = 1;
  a->max_msg_sz = static_cast<std::uint32_t>(max_message_bytes);
  a->qkey_viol_cntr = nic.qkey_violations;
  a->pkey_tbl_len = 1;
  a->lid = nic.lid();
  a->sm_lid = first_lid;
  a->max_vl_num = 1;
  a->active_width = 2;
  a->active_speed = 32;
  a->phys_state = 5;
  a->link_layer = IBV_LINK_LAYER_INFINIBAND;
  return 0;
}

int query_gid(ibv_context* c, std::uint8_t port, int index, union ibv_gid* gid) noexcept {
  if (!is_only_row(port, index)) {
    errno = EINVAL;
    return -1;
  }
  *gid = hca_of(c).gid();
  return 0;
}

int query_gid_type(ibv_context*, std::uint8_t port, int index, std::uint32_t* type) noexcept {
  if (!is_only_row(port, index)) return ENODATA;
  *type = 0;  // IBV_GID_TYPE_IB
  return 0;
}

int query_pkey(ibv_context*, std::uint8_t port, int index, __be16* pkey) noexcept {
  if (!is_only_row(port, index)) {
    errno = EINVAL;
    return -1;
  }
  *pkey = 0xffff;
  return 0;
}

}  // namespace chorale::simulation::device
