// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "../core/streams_reserved.hpp"
#include "../verbs/profile_rules.hpp"
#include "extended.hpp"
#include "queue_pair.hpp"

namespace chorale::soft {
namespace {

/// A locally administered OUI (bit 0x02 of its first byte), so it belongs to no vendor.
constexpr std::uint32_t vendor_id = 0x066368;

ibv_device& device() noexcept {
  static verbs::listed_device only{verbs::software_name};
  return only.shown;
}

/// Programs may close a device and leave its objects behind, which a kernel device would destroy. Here peers
/// can no longer reach them, but their memory stays, since the program has pointers to it.
void take_out_of_service(context& c) noexcept {
  process& self = *c.owner;
  if (self.abandoned()) return;
  for (std::uint32_t i = 0; i < qp_count; ++i) {
    queue_pair* qp = self.qp_table()[i].load();
    if (qp == nullptr || qp->context != c.verbs()) continue;
    const std::lock_guard guard(qp->attributes_mutex);
    leave_service(*qp, IBV_QPS_RESET);
  }
}

}  // namespace

ibv_device** get_device_list(int* count) noexcept {
  return verbs::list_of(&device(), count);
}

void free_device_list(ibv_device** list) noexcept {
  std::free(list);
}

ibv_context* open_device(ibv_device* which) noexcept {
  if (which != &device()) {
    errno = ENODEV;
    return nullptr;
  }
  process* self = process::join();
  if (self == nullptr) return nullptr;
  context* c = nullptr;
  try {
    c = new context;
  } catch (...) {  // its containers need memory, too
  }
  int ends[2];
  if (c == nullptr ||
      detail::above_streams([&] { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends); }) != 0) {
    const int saved = c == nullptr ? ENOMEM : errno;
    delete c;
    self->leave();
    errno = saved;
    return nullptr;
  }
  c->owner = self;
  try {
    const std::lock_guard lock(self->objects_mutex());
    self->open_contexts().push_back(c);
    self->begin_events();
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    delete c;
    self->leave();
    errno = ENOMEM;
    return nullptr;
  }
  c->async_write = ends[1];
  c->extended.sz = sizeof(verbs_context);
  ibv_context& v = c->extended.context;
  v.device = which;
  v.cmd_fd = -1;
  v.async_fd = ends[0];
  v.num_comp_vectors = 1;
  v.abi_compat = __VERBS_ABI_IS_EXTENDED;
  pthread_mutex_init(&v.mutex, nullptr);
  fill_extended(c->extended);
  v.ops.poll_cq = [](ibv_cq* cq, int n, ibv_wc* wc) { return poll_cq(cq, n, wc); };
  v.ops.req_notify_cq = [](ibv_cq* cq, int solicited) { return req_notify_cq(cq, solicited); };
  v.ops.post_send = post_send;
  v.ops.post_recv = post_recv;
  v.ops.post_srq_recv = post_srq_recv;
  return &v;
}

int close_device(ibv_context* base) noexcept {
  context& c = context::of(base);
  const bool empty = c.objects.load() == 0;
  if (!empty) take_out_of_service(c);
  if (!c.owner->abandoned()) {
    const std::lock_guard lock(c.owner->objects_mutex());
    std::erase(c.owner->open_contexts(), &c);
  }
  int async_write = -1;
  {
    std::unique_lock lock(c.events_mutex, std::defer_lock);
    // fork() may have copied the lock while another thread held it.
    if (!c.owner->abandoned()) lock.lock();
    std::swap(async_write, c.async_write);
  }
  close(base->async_fd);
  close(async_write);
  // The remaining objects refer to the context, and lie in this process's segment.
  if (!empty) return 0;
  // If a thread of the parent was waiting at the fork(), the child can never destroy what it waits for.
  if (c.owner->abandoned() && c.settling.load() != 0) return 0;
  pthread_mutex_destroy(&base->mutex);
  c.owner->leave();
  delete &c;
  return 0;
}

int query_device(ibv_context* c, ibv_device_attr* a) noexcept {
  const registry& fabric = process_of(c).fabric();
  *a = {};
  std::snprintf(a->fw_ver, sizeof a->fw_ver, "%u.0", layout_version);
  a->node_guid = a->sys_image_guid = htobe64(fabric.guid);
  a->vendor_id = vendor_id;
  a->max_cq = 65536;
  a->max_mr = static_cast<int>(mr_count - 1);
  a->max_pd = 1 << 24;
  verbs::describe(process_of(c).profile(), *a);
  a->max_res_rd_atom = a->max_qp_rd_atom * a->max_qp;
  return 0;
}

int query_port(ibv_context* c, std::uint8_t port, ibv_port_attr* a) noexcept {
  if (port != 1) return EINVAL;
  process& self = process_of(c);
  *a = {};
  a->port_cap_flags = IBV_PORT_SM;
  a->qkey_viol_cntr = static_cast<std::uint32_t>(self.own().qkey_violations.load());
  verbs::describe(self.profile(), static_cast<std::uint16_t>(self.fabric().lid),
                  self.own().port_down.load() == 0, *a);
  a->sm_lid = a->lid;
  return 0;
}

int query_gid(ibv_context* c, std::uint8_t port, int index, union ibv_gid* gid) noexcept {
  return verbs::query_gid(process_of(c).own().port, port, index, gid);
}

int query_gid_type(ibv_context* c, std::uint8_t port, int index, std::uint32_t* type) noexcept {
  return verbs::query_gid_type(process_of(c).own().port, port, index, type);
}

int query_pkey(ibv_context* c, std::uint8_t port, int index, __be16* pkey) noexcept {
  return verbs::query_pkey(process_of(c).profile(), port, index, pkey);
}

}  // namespace chorale::soft
