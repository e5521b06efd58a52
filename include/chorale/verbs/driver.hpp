// SPDX-License-Identifier: Apache-2.0
// The control path of verbs as a table of functions, filled by libibverbs or by the software device.
#pragma once

#include <cstddef>
#include <cstdint>

#include <infiniband/verbs.h>

namespace chorale::verbs {

/// Control-path calls of one device provider. Each entry has exactly the contract of the `ibv_*` function of
/// the same name (return value, errno). The fast path is not included: `ibv_post_send`, `ibv_post_recv`,
/// `ibv_post_srq_recv`, `ibv_poll_cq` and `ibv_req_notify_cq` of <infiniband/verbs.h> go through
/// `ibv_context::ops`, which each provider fills. Code above therefore treats real devices and `soft0` alike.
/// Thread safety: as in verbs, any thread may call every entry.
struct driver {
  const char* name;  ///< "rdma-core", `software_driver_name`, or "simulation" for sim0
  /// Translates the addresses of registered memory at each access, instead of once at registration.
  bool finds_by_address = false;
  /// Attaching queue pairs suffices to create a multicast group: no subnet manager is involved.
  bool makes_groups = false;
  /// In a child of fork(), the calls that destroy objects of its parent only free the child's memory. Without
  /// this, they would destroy objects that the parent uses.
  bool knows_children = false;
  /// Whether the core that posts a request copies its bytes, as software devices do. A null pointer means
  /// that adapters do.
  bool (*copies_by_core)(ibv_context* context) noexcept = nullptr;
  /// Whether writes into the memory of this context become visible to a processor that polls it in the order
  /// in which they were posted, and with ascending addresses within each. A null pointer means that this is
  /// unknown.
  bool (*keeps_order)(ibv_context* context) noexcept = nullptr;
  /// If cores copy: the message size in bytes from which one copy to memory of another process is faster than
  /// two through memory from `allocate`, on this machine, if each process has a core.
  std::size_t (*zero_copy_from)(ibv_context* context) noexcept = nullptr;

  ibv_device** (*get_device_list)(int* count);
  void (*free_device_list)(ibv_device** list);
  ibv_context* (*open_device)(ibv_device* device);
  int (*close_device)(ibv_context* context);

  int (*query_device)(ibv_context* context, ibv_device_attr* attributes);
  int (*query_port)(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes);
  int (*query_gid)(ibv_context* context, std::uint8_t port, int index, union ibv_gid* gid);
  /// ibv_gid_type of an entry as IBV_GID_TYPE_* (`ibv_query_gid_ex`); an errno if the entry is empty.
  int (*query_gid_type)(ibv_context* context, std::uint8_t port, int index, std::uint32_t* type);
  int (*query_pkey)(ibv_context* context, std::uint8_t port, int index, __be16* pkey);

  ibv_pd* (*alloc_pd)(ibv_context* context);
  int (*dealloc_pd)(ibv_pd* pd);
  ibv_mr* (*reg_mr)(ibv_pd* pd, void* address, std::size_t bytes, int access);
  int (*dereg_mr)(ibv_mr* mr);

  ibv_comp_channel* (*create_comp_channel)(ibv_context* context);
  int (*destroy_comp_channel)(ibv_comp_channel* channel);
  ibv_cq* (*create_cq)(ibv_context* context, int entries, void* cq_context, ibv_comp_channel* channel,
                       int vector);
  int (*resize_cq)(ibv_cq* cq, int entries);
  int (*destroy_cq)(ibv_cq* cq);
  int (*get_cq_event)(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context);
  void (*ack_cq_events)(ibv_cq* cq, unsigned int count);

  ibv_qp* (*create_qp)(ibv_pd* pd, ibv_qp_init_attr* attributes);
  int (*modify_qp)(ibv_qp* qp, ibv_qp_attr* attributes, int mask);
  int (*query_qp)(ibv_qp* qp, ibv_qp_attr* attributes, int mask, ibv_qp_init_attr* init);
  int (*query_qp_data_in_order)(ibv_qp* qp, ibv_wr_opcode opcode, std::uint32_t flags);
  int (*destroy_qp)(ibv_qp* qp);

  ibv_srq* (*create_srq)(ibv_pd* pd, ibv_srq_init_attr* attributes);
  int (*modify_srq)(ibv_srq* srq, ibv_srq_attr* attributes, int mask);
  int (*query_srq)(ibv_srq* srq, ibv_srq_attr* attributes);
  int (*destroy_srq)(ibv_srq* srq);

  ibv_ah* (*create_ah)(ibv_pd* pd, ibv_ah_attr* attributes);
  ibv_ah* (*create_ah_from_wc)(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port);
  int (*destroy_ah)(ibv_ah* ah);
  int (*attach_mcast)(ibv_qp* qp, const union ibv_gid* gid, std::uint16_t lid);
  int (*detach_mcast)(ibv_qp* qp, const union ibv_gid* gid, std::uint16_t lid);

  int (*get_async_event)(ibv_context* context, ibv_async_event* event);
  void (*ack_async_event)(ibv_async_event* event);

  /// Zeroed, page-aligned memory of at least `bytes` that this device accesses fastest (on `soft0`, memory
  /// that other processes can map). nullptr with errno set on failure. Register it like any other memory.
  void* (*allocate)(ibv_context* context, std::size_t bytes);
  int (*release)(ibv_context* context, void* address, std::size_t bytes);

  /// Maps memory from `allocate` of a connected process into this one: loads, stores and atomics work on the
  /// memory of the other process. The peer must have registered it with IBV_ACCESS_REMOTE_READ and
  /// IBV_ACCESS_REMOTE_WRITE. The mapping stays until `unmap`, whatever happens to the peer and its
  /// registration. Null pointers if the device has no such memory, as with adapters. `map` returns nullptr
  /// with errno set on failure: EINVAL (key, range, rights), ENOTCONN, EOPNOTSUPP (memory of another kind),
  /// ENOMEM.
  void* (*map)(ibv_qp* qp, std::uint64_t address, std::uint32_t rkey, std::size_t bytes) = nullptr;
  int (*unmap)(void* address, std::size_t bytes) = nullptr;
};

/// Flag of `query_qp_data_in_order`, and the bits of the answer, as defined by newer releases of rdma-core.
/// Without the flag, 1 means the whole message.
inline constexpr std::uint32_t in_order_capabilities = 1;
inline constexpr int in_order_whole = 1;
inline constexpr int in_order_aligned_128 = 2;

/// The devices of libibverbs; nullptr in a build without it.
const driver* rdma_core() noexcept;

/// Upper half of `ibv_wc::vendor_err` if `soft0` could not reach an existing peer; the lower half is the
/// errno. The status is RETRY_EXC_ERR, for datagrams LOC_QP_OP_ERR.
inline constexpr std::uint32_t soft_vendor_tag = 0x534f0000;

/// The name of the software device.
inline constexpr const char* software_name = "soft0";
/// `driver::name` of what provides it: `soft()`, or a simulation, in which it connects the ranks of a host.
inline constexpr const char* software_driver_name = "soft";

/// The software device in user space: one device, `soft0`, always available.
const driver* soft() noexcept;

}  // namespace chorale::verbs
