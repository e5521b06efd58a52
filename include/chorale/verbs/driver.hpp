// The control path of the verbs as a table of functions, filled by libibverbs or by the software device.
#pragma once

#include <cstddef>
#include <cstdint>

#include <infiniband/verbs.h>

namespace chorale::verbs {

/// Set-up calls of one provider of devices. Each entry has exactly the contract of the `ibv_*` function of
/// its name (return value, errno). The fast path is not here: `ibv_post_send`, `ibv_post_recv`,
/// `ibv_post_srq_recv`, `ibv_poll_cq` and `ibv_req_notify_cq` of <infiniband/verbs.h> go through
/// `ibv_context::ops`, which each provider fills itself. So a real device and `soft0` are the same above.
/// Thread safety: as the verbs', every entry may be called from any thread.
struct driver {
  const char* name;  ///< "rdma-core" or "soft"; "simulation" of sim0
  /// It finds the pages of registered memory by their address at each access, not once and for all.
  bool finds_by_address = false;
  /// Attaching queue pairs is all that makes a multicast group: no manager is to be asked.
  bool makes_groups = false;
  /// Whether the core that posts a request moves its bytes, as with a software device. A null pointer says
  /// that adapters do.
  bool (*copies_by_core)(ibv_context* context) noexcept = nullptr;

  ibv_device** (*get_device_list)(int* count);
  void (*free_device_list)(ibv_device** list);
  ibv_context* (*open_device)(ibv_device* device);
  int (*close_device)(ibv_context* context);

  int (*query_device)(ibv_context* context, ibv_device_attr* attributes);
  int (*query_port)(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes);
  int (*query_gid)(ibv_context* context, std::uint8_t port, int index, union ibv_gid* gid);
  /// ibv_gid_type of a row as IBV_GID_TYPE_* (`ibv_query_gid_ex`); an errno if the row is empty.
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

  /// Zeroed, page-aligned memory of at least `bytes` that this device reaches fastest (on `soft0` memory that
  /// other processes can map). nullptr with errno set if there is none. Register it like any other memory.
  void* (*allocate)(ibv_context* context, std::size_t bytes);
  int (*release)(ibv_context* context, void* address, std::size_t bytes);

  /// Memory from `allocate` of the process that a connection leads to, as memory of this process: loads and
  /// stores there are those of the other process, atomic ones included. The peer has to have registered it
  /// with IBV_ACCESS_REMOTE_READ and IBV_ACCESS_REMOTE_WRITE. It stays until `unmap`, whatever becomes of the
  /// peer and its registration. Null pointers where a device has no such memory, as those of adapters.
  /// `map`: nullptr with errno set if this process cannot see it: EINVAL (key, range, rights), ENOTCONN,
  /// EOPNOTSUPP (it is no such memory), ENOMEM.
  void* (*map)(ibv_qp* qp, std::uint64_t address, std::uint32_t rkey, std::size_t bytes) = nullptr;
  int (*unmap)(void* address, std::size_t bytes) = nullptr;
};

/// The devices of libibverbs; nullptr in a build without it.
const driver* rdma_core() noexcept;

/// Upper half of `ibv_wc::vendor_err` where `soft0` could not reach a peer that is there; the lower half is
/// the errno. The status is RETRY_EXC_ERR, for datagrams LOC_QP_OP_ERR.
inline constexpr std::uint32_t soft_vendor_tag = 0x534f0000;

/// The software device in user space: one device, `soft0`, always there.
const driver* soft() noexcept;

}  // namespace chorale::verbs
