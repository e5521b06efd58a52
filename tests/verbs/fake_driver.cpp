// SPDX-License-Identifier: Apache-2.0
#include "fake_driver.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

namespace fake {
namespace {

template <int Which>
machine& machine_of() {
  static machine instance;
  return instance;
}

/// The driver table for one machine. Objects are allocated with new, so that a leak checker sees what is
/// left.
template <int Which>
struct table {
  static machine& m() { return machine_of<Which>(); }

  static int failure(const char* entry) {
    const auto it = m().failures.find(entry);
    return it == m().failures.end() ? 0 : it->second;
  }
  template <class T>
  static T* make(const char* entry, const char* kind) {
    if (const int f = failure(entry); f != 0) {
      errno = f;
      return nullptr;
    }
    ++m().live[kind];
    return new T{};
  }
  template <class T>
  static int unmake(const char* entry, const char* kind, T* object) {
    if (const int f = failure(entry); f != 0) return f;
    --m().live[kind];
    delete object;
    return 0;
  }
  static device& device_of(ibv_device* d) {
    for (auto& candidate : m().devices)
      if (candidate.name == d->name) return candidate;
    return m().devices.front();
  }
  static port& port_of(ibv_context* c, std::uint8_t number) {
    return device_of(c->device).ports.at(number - 1U);
  }

  static ibv_device** list(int* count) {
    if (m().list_errno != 0) {
      errno = m().list_errno;
      return nullptr;
    }
    auto** devices = new ibv_device* [m().devices.size() + 1] {};
    std::size_t index = 0;
    for (const auto& d : m().devices) {
      auto* entry = new ibv_device{};
      std::snprintf(entry->name, sizeof entry->name, "%s", d.name.c_str());
      std::snprintf(entry->dev_name, sizeof entry->dev_name, "uverbs%zu", index);
      entry->transport_type = d.transport;
      devices[index++] = entry;
    }
    *count = static_cast<int>(index);
    ++m().live["list"];
    return devices;
  }
  static void free_list(ibv_device** devices) {
    for (auto** d = devices; *d != nullptr; ++d) delete *d;
    delete[] devices;
    --m().live["list"];
  }
  static ibv_context* open(ibv_device* d) {
    if (const int f = device_of(d).open_errno; f != 0) {
      errno = f;
      return nullptr;
    }
    auto* context = make<ibv_context>("open_device", "context");
    if (context == nullptr) return nullptr;
    context->device = new ibv_device(*d);
    context->async_fd = m().async_fd;
    context->ops.poll_cq = [](ibv_cq*, int, ibv_wc* to) {
      if (m().poll_result > 0) std::fill_n(to, m().poll_result, m().completion);
      return m().poll_result;
    };
    context->ops.req_notify_cq = [](ibv_cq*, int) { return m().post_result; };
    context->ops.post_send = [](ibv_qp*, ibv_send_wr* first, ibv_send_wr** bad) {
      if (m().post_result != 0) *bad = first->next == nullptr ? first : first->next;
      return m().post_result;
    };
    context->ops.post_recv = [](ibv_qp*, ibv_recv_wr* first, ibv_recv_wr** bad) {
      if (m().post_result != 0) *bad = first;
      return m().post_result;
    };
    context->ops.post_srq_recv = [](ibv_srq*, ibv_recv_wr* first, ibv_recv_wr** bad) {
      if (m().post_result != 0) *bad = first;
      return m().post_result;
    };
    return context;
  }
  static int close(ibv_context* c) {
    if (const int f = failure("close_device"); f != 0) {
      errno = f;
      return -1;
    }
    delete c->device;
    return unmake("close_device", "context", c);
  }
  static int query_device(ibv_context* c, ibv_device_attr* attributes) {
    *attributes = {};
    attributes->phys_port_cnt = static_cast<std::uint8_t>(device_of(c->device).ports.size());
    attributes->max_cqe = 1000;
    attributes->max_qp_wr = 500;
    attributes->max_sge = 30;
    attributes->max_srq = device_of(c->device).max_srq;
    attributes->atomic_cap = device_of(c->device).atomics;
    attributes->max_srq_wr = 300;
    attributes->max_srq_sge = 20;
    return failure("query_device");
  }
  static int query_port(ibv_context* c, std::uint8_t number, ibv_port_attr* attributes) {
    const port& p = port_of(c, number);
    *attributes = {};
    attributes->state = p.state;
    attributes->link_layer = p.link_layer;
    attributes->active_mtu = p.active_mtu;
    attributes->active_width = p.width;
    attributes->active_speed = p.speed;
    attributes->sm_lid = p.sm_lid;
    attributes->gid_tbl_len = static_cast<int>(p.gids.size());
    attributes->pkey_tbl_len = static_cast<std::uint16_t>(p.pkeys.size());
    attributes->flags = p.flags;
    attributes->lid = p.link_layer == IBV_LINK_LAYER_INFINIBAND ? 7 : 0;
    return failure("query_port");
  }
  static int query_gid(ibv_context* c, std::uint8_t number, int index, ibv_gid* gid) {
    *gid = port_of(c, number).gids.at(static_cast<std::size_t>(index)).gid;
    return 0;
  }
  static int query_gid_type(ibv_context* c, std::uint8_t number, int index, std::uint32_t* type) {
    const row& r = port_of(c, number).gids.at(static_cast<std::size_t>(index));
    if (!r.used) return ENODATA;
    *type = r.type;
    return 0;
  }
  static int query_pkey(ibv_context* c, std::uint8_t number, int index, __be16* pkey) {
    *pkey = htons(port_of(c, number).pkeys.at(static_cast<std::size_t>(index)));
    return 0;
  }
  static ibv_pd* alloc_pd(ibv_context* c) {
    auto* pd = make<ibv_pd>("alloc_pd", "pd");
    if (pd != nullptr) pd->context = c;
    return pd;
  }
  static ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) {
    m().registered_access = access;
    auto* mr = make<ibv_mr>("reg_mr", "mr");
    if (mr == nullptr) return nullptr;
    mr->context = pd->context;
    mr->addr = address;
    mr->length = bytes;
    mr->lkey = ++m().registrations;
    mr->rkey = mr->lkey + 1'000'000;
    m().regions[mr->lkey] = {static_cast<const std::byte*>(address), bytes};
    return mr;
  }
  static int dereg_mr(ibv_mr* mr) {
    const std::uint32_t key = mr->lkey;
    const int failed = unmake("dereg_mr", "mr", mr);
    if (failed == 0) m().regions.erase(key);
    return failed;
  }
  static ibv_comp_channel* create_channel(ibv_context* c) {
    auto* channel = make<ibv_comp_channel>("create_comp_channel", "channel");
    if (channel != nullptr) channel->context = c, channel->fd = -1;
    return channel;
  }
  static ibv_cq* create_cq(ibv_context* c, int entries, void*, ibv_comp_channel* channel, int) {
    auto* cq = make<ibv_cq>("create_cq", "cq");
    if (cq != nullptr) cq->context = c, cq->cqe = entries, cq->channel = channel;
    return cq;
  }
  static ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
    if (const device& d = device_of(pd->context->device);
        (attributes->qp_type == IBV_QPT_UD && !d.datagrams) ||
        attributes->cap.max_inline_data > d.most_inline) {
      errno = EOPNOTSUPP;
      return nullptr;
    }
    auto* qp = make<ibv_qp>("create_qp", "qp");
    if (qp == nullptr) return nullptr;
    qp->context = pd->context;
    qp->qp_num = 0x12;
    qp->qp_type = attributes->qp_type;
    m().created = *attributes;
    attributes->cap.max_inline_data += 4;  // devices round up
    return qp;
  }
  static int query_qp(ibv_qp*, ibv_qp_attr* attributes, int, ibv_qp_init_attr*) {
    attributes->qp_state = m().state;
    return failure("query_qp");
  }
  static ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr*) {
    auto* srq = make<ibv_srq>("create_srq", "srq");
    if (srq != nullptr) srq->context = pd->context;
    return srq;
  }
  static ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr*) {
    auto* ah = make<ibv_ah>("create_ah", "ah");
    if (ah != nullptr) ah->context = pd->context;
    return ah;
  }
  static void* allocate(ibv_context*, std::size_t bytes) {
    if (const int f = failure("allocate"); f != 0) {
      errno = f;
      return nullptr;
    }
    ++m().live["memory"];
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  static int release(ibv_context*, void* address, std::size_t bytes) {
    if (const int f = failure("release"); f != 0) return f;
    --m().live["memory"];
    return munmap(address, bytes);
  }

  static inline const chorale::verbs::driver driver{
      .name = Which == 0 ? "rdma-core" : "soft",
      .get_device_list = list,
      .free_device_list = free_list,
      .open_device = open,
      .close_device = close,
      .query_device = query_device,
      .query_port = query_port,
      .query_gid = query_gid,
      .query_gid_type = query_gid_type,
      .query_pkey = query_pkey,
      .alloc_pd = alloc_pd,
      .dealloc_pd = [](ibv_pd* pd) { return unmake("dealloc_pd", "pd", pd); },
      .reg_mr = reg_mr,
      .dereg_mr = dereg_mr,
      .create_comp_channel = create_channel,
      .destroy_comp_channel =
          [](ibv_comp_channel* c) { return unmake("destroy_comp_channel", "channel", c); },
      .create_cq = create_cq,
      .resize_cq = [](ibv_cq*, int) { return failure("resize_cq"); },
      .destroy_cq = [](ibv_cq* cq) { return unmake("destroy_cq", "cq", cq); },
      .get_cq_event = [](ibv_comp_channel*, ibv_cq**, void**) { return errno = failure("get_cq_event"), -1; },
      .ack_cq_events = [](ibv_cq*, unsigned int) {},
      .create_qp = create_qp,
      .modify_qp =
          [](ibv_qp*, ibv_qp_attr* attributes, int mask) {
            m().modified = *attributes;
            m().modified_mask = mask;
            return failure("modify_qp");
          },
      .query_qp = query_qp,
      .query_qp_data_in_order = [](ibv_qp*, ibv_wr_opcode opcode,
                                   std::uint32_t) { return opcode == IBV_WR_RDMA_WRITE ? 1 : 0; },
      .destroy_qp = [](ibv_qp* qp) { return unmake("destroy_qp", "qp", qp); },
      .create_srq = create_srq,
      .modify_srq = [](ibv_srq*, ibv_srq_attr*, int) { return failure("modify_srq"); },
      .query_srq = [](ibv_srq*, ibv_srq_attr*) { return failure("query_srq"); },
      .destroy_srq = [](ibv_srq* srq) { return unmake("destroy_srq", "srq", srq); },
      .create_ah = create_ah,
      .create_ah_from_wc = [](ibv_pd* pd, ibv_wc*, ibv_grh*, std::uint8_t) { return create_ah(pd, nullptr); },
      .destroy_ah = [](ibv_ah* ah) { return unmake("destroy_ah", "ah", ah); },
      .attach_mcast =
          [](ibv_qp*, const ibv_gid*, std::uint16_t) {
            if (const int f = failure("attach_mcast"); f != 0) return f;
            return ++m().live["membership"], 0;
          },
      .detach_mcast =
          [](ibv_qp*, const ibv_gid*, std::uint16_t) {
            if (const int f = failure("detach_mcast"); f != 0) return f;
            return --m().live["membership"], 0;
          },
      .get_async_event =
          [](ibv_context* c, ibv_async_event* event) {
            char byte = 0;
            if (read(c->async_fd, &byte, 1) != 1) return -1;
            *event = m().events.front();
            m().events.erase(m().events.begin());
            return 0;
          },
      .ack_async_event = [](ibv_async_event*) {},
      .allocate = allocate,
      .release = release,
  };
};

}  // namespace

machine& real() {
  return machine_of<0>();
}
machine& software() {
  return machine_of<1>();
}
const chorale::verbs::driver& real_driver() {
  return table<0>::driver;
}
const chorale::verbs::driver& software_driver() {
  return table<1>::driver;
}

row ipv4_row(std::uint32_t type) {
  row r{.type = type};
  inet_pton(AF_INET6, "::ffff:10.0.0.1", r.gid.raw);
  return r;
}

row link_local_row(std::uint32_t type) {
  row r{.type = type};
  inet_pton(AF_INET6, "fe80::1", r.gid.raw);
  return r;
}

row row_of(const char* address, std::uint32_t type) {
  row r{.type = type};
  inet_pton(AF_INET6, address, r.gid.raw);
  return r;
}

row empty_row() {
  return {.used = false};
}

device infiniband(const std::string& name) {
  return {.name = name, .ports = {port{.gids = {link_local_row(IBV_GID_TYPE_IB)}}}};
}

device roce(const std::string& name) {
  return {
      .name = name,
      .ports = {port{.link_layer = IBV_LINK_LAYER_ETHERNET,
                     .active_mtu = IBV_MTU_1024,
                     .gids = {link_local_row(IBV_GID_TYPE_ROCE_V1), link_local_row(IBV_GID_TYPE_ROCE_V2),
                              ipv4_row(IBV_GID_TYPE_ROCE_V1), ipv4_row(IBV_GID_TYPE_ROCE_V2), empty_row()}}}};
}

}  // namespace fake
