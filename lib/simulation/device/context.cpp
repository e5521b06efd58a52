// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unistd.h>

#include "completions.hpp"
#include "events.hpp"
#include "fabric.hpp"
#include "verbs.hpp"

namespace chorale::simulation::device {
namespace {

/// An OUI from the locally administered range (bit 0x02 of its first byte), so no vendor's.
constexpr std::uint32_t vendor_id = 0x067369;

ibv_device** list_here(fabric::scope which, int* count) noexcept {
  fabric* const all = fabric::current(which);
  return verbs::list_of(all != nullptr ? &all->here().device() : nullptr, count);
}

}  // namespace

ibv_device** get_cluster_device(int* count) noexcept {
  return list_here(fabric::scope::cluster, count);
}

ibv_device** get_host_device(int* count) noexcept {
  return list_here(fabric::scope::host, count);
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
    c->profile = &c->nic->owner().profile_of(c->rank);
    c->port = verbs::identity_of(*c->profile, c->nic->lid(), c->nic->gid());
    // The GIDs of a profile are those of host 0; host h adds h.
    if (!c->profile->gids.empty())
      for (verbs::profile_gid& row : c->port.gids)
        row.gid.global.interface_id =
            htobe64(be64toh(row.gid.global.interface_id) + static_cast<std::uint64_t>(c->nic->host()));
    c->device = which;
    c->cmd_fd = -1;
    c->num_comp_vectors = 1;
    pthread_mutex_init(&c->mutex, nullptr);
    c->ops.poll_cq = poll_cq;
    c->ops.req_notify_cq = req_notify_cq;
    c->ops.post_send = post_send;
    c->ops.post_recv = post_recv;
    c->ops.post_srq_recv = post_srq_recv;
    c->nic->owner().opened(*c);
    return c.release();
  });
}

int close_device(ibv_context* base) noexcept {
  std::unique_ptr<context> c{&context::of(base)};
  c->nic->owner().closed(*c);
  close(c->async_fd);
  pthread_mutex_destroy(&c->mutex);
  if (c->objects == 0) return 0;
  // Programs close a device that still has objects, which the kernel then destroys. Here peers no longer
  // reach them, but their memory stays, since the program has pointers to it.
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
  return hca_of(c).owner().copies() != nullptr;
}

bool keeps_order(ibv_context* c) noexcept {
  return placement_of(context::of(c)) == verbs::placement_order::ordered;
}

verbs::placement_order placement_of(const context& c) noexcept {
  using verbs::placement_order;
  const placement_order order = c.nic->disorder != placement_order::ordered
                                    ? c.nic->disorder
                                    : c.profile->placement.value_or(placement_order::ordered);
  const bool keeps_bytes = c.profile->in_order == verbs::order_answer::whole;
  return order == placement_order::unordered && keeps_bytes ? placement_order::within_request : order;
}

std::size_t zero_copy_from(ibv_context* c) noexcept {
  return hca_of(c).owner().copies()->zero_copy_from();
}

int query_device(ibv_context* c, ibv_device_attr* a) noexcept {
  *a = {};
  std::snprintf(a->fw_ver, sizeof a->fw_ver, "1.0");
  a->node_guid = a->sys_image_guid = hca_of(c).gid().global.interface_id;
  a->vendor_id = vendor_id;
  a->max_cq = plenty;
  a->max_mr = static_cast<int>(max_regions);
  a->max_pd = plenty;
  a->max_res_rd_atom = plenty;
  verbs::describe(*context::of(c).profile, *a);
  return 0;
}

int query_port(ibv_context* c, std::uint8_t port, ibv_port_attr* a) noexcept {
  if (port != 1) return EINVAL;
  const hca& nic = hca_of(c);
  nic.owner().time().settle();
  *a = {};
  a->qkey_viol_cntr = nic.qkey_violations;
  verbs::describe(*context::of(c).profile, nic.lid(), !context::of(c).port_down, *a);
  a->sm_lid = a->lid == 0 ? std::uint16_t{0} : std::uint16_t{first_lid};
  return 0;
}

int query_gid(ibv_context* c, std::uint8_t port, int index, union ibv_gid* gid) noexcept {
  return verbs::query_gid(context::of(c).port, port, index, gid);
}

int query_gid_type(ibv_context* c, std::uint8_t port, int index, std::uint32_t* type) noexcept {
  return verbs::query_gid_type(context::of(c).port, port, index, type);
}

int query_pkey(ibv_context* c, std::uint8_t port, int index, __be16* pkey) noexcept {
  return verbs::query_pkey(*context::of(c).profile, port, index, pkey);
}

}  // namespace chorale::simulation::device
