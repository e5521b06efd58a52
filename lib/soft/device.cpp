#include "device.hpp"

#include <algorithm>
#include <arpa/inet.h>
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

/// Providers of real hardware read their own marker behind the ibv_device before they accept a device.
struct padded_device {
  ibv_device device;
  void* no_provider[64];
};

ibv_device& device() noexcept {
  static padded_device only = [] {
    padded_device padded{};
    ibv_device& d = padded.device;
    d.node_type = IBV_NODE_CA;
    d.transport_type = IBV_TRANSPORT_IB;
    std::snprintf(d.name, sizeof d.name, "soft0");
    std::snprintf(d.dev_name, sizeof d.dev_name, "soft0");
    return padded;
  }();
  return only.device;
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

int find_own_gid(process& self, int index, verbs::profile_gid& row) noexcept {
  ibv_gid own{};
  own.global.interface_id = htobe64(self.fabric().guid);
  return verbs::find_gid(self.profile(), index, own, row);
}

ibv_device** get_device_list(int* count) noexcept {
  auto** list = static_cast<ibv_device**>(std::calloc(2, sizeof(ibv_device*)));
  if (list == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  list[0] = &device();
  if (count != nullptr) *count = 1;
  return list;
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
  a->vendor_part_id = 1;
  a->max_mr_size = ~std::uint64_t{0};
  a->page_size_cap = 0xfffff000;
  a->device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_RC_RNR_NAK_GEN;
  a->max_cq = 65536;
  a->max_mr = static_cast<int>(mr_count - 1);
  a->max_pd = 1 << 24;
  a->phys_port_cnt = 1;
  verbs::describe(process_of(c).profile(), *a);
  a->max_res_rd_atom = a->max_qp_rd_atom * a->max_qp;
  return 0;
}

int query_port(ibv_context* c, std::uint8_t port, ibv_port_attr* a) noexcept {
  if (port != 1) return EINVAL;
  process& self = process_of(c);
  *a = {};
  const bool up = self.own().port_down.load() == 0;
  a->state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  a->port_cap_flags = IBV_PORT_SM;
  a->qkey_viol_cntr = static_cast<std::uint32_t>(self.own().qkey_violations.load());
  a->max_vl_num = 1;
  a->phys_state = up ? 5 : 2;  // LinkUp, Polling
  verbs::describe(self.profile(), static_cast<std::uint16_t>(self.fabric().lid), *a);
  a->sm_lid = a->lid;
  return 0;
}

int query_gid(ibv_context* c, std::uint8_t port, int index, union ibv_gid* gid) noexcept {
  verbs::profile_gid row;
  errno = port != 1 ? EINVAL : find_own_gid(process_of(c), index, row);
  if (errno != 0) return -1;
  *gid = row.gid;
  return 0;
}

int query_gid_type(ibv_context* c, std::uint8_t port, int index, std::uint32_t* type) noexcept {
  verbs::profile_gid row;
  if (port != 1 || find_own_gid(process_of(c), index, row) != 0) return ENODATA;
  *type = static_cast<std::uint32_t>(row.type);
  return 0;
}

int query_pkey(ibv_context* c, std::uint8_t port, int index, __be16* pkey) noexcept {
  const auto& keys = process_of(c).profile().pkeys;
  if (port != 1 || index < 0 || static_cast<std::size_t>(index) >= keys.size()) {
    errno = EINVAL;
    return -1;
  }
  *pkey = htons(keys[static_cast<std::size_t>(index)]);
  return 0;
}

}  // namespace chorale::soft
