// SPDX-License-Identifier: Apache-2.0
// Entry points beyond the driver table, which programs reach through verbs_context, ibv_qp_ex and ibv_cq_ex.
#pragma once

#include <cstddef>
#include <cstdint>

#include <infiniband/verbs.h>

namespace chorale::soft {

/// Fills the extended operations of a context. What soft0 does not support (XRC, memory windows, device
/// memory, flows, work queues, ...) stays null, for which <infiniband/verbs.h> returns EOPNOTSUPP.
void fill_extended(verbs_context& context) noexcept;

/// As `ibv_create_qp_ex` with a PD and the operations to post through `ibv_qp_ex`; EOPNOTSUPP for anything
/// else.
ibv_qp* create_qp_ex(ibv_context* c, ibv_qp_init_attr_ex* attributes) noexcept;
/// nullptr for a QP that was created without IBV_QP_INIT_ATTR_SEND_OPS_FLAGS.
ibv_qp_ex* qp_to_qp_ex(ibv_qp* qp) noexcept;
/// As `ibv_create_cq_ex`; supports all fields but VLAN, flow tag, tag matching and wall clock.
ibv_cq_ex* create_cq_ex(ibv_context* c, ibv_cq_init_attr_ex* attributes) noexcept;

/// Fills `bytes` of the structure: programs may have been compiled with an older or newer header.
int query_device_ex(ibv_context* c, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attributes,
                    std::size_t bytes) noexcept;
int query_port_ex(ibv_context* c, std::uint8_t port, ibv_port_attr* attributes, std::size_t bytes) noexcept;
int query_gid_ex(ibv_context* c, std::uint32_t port, std::uint32_t index, ibv_gid_entry* entry,
                 std::uint32_t flags, std::size_t bytes) noexcept;
ssize_t query_gid_table(ibv_context* c, ibv_gid_entry* entries, std::size_t count, std::uint32_t flags,
                        std::size_t bytes) noexcept;
/// The device's clock, which timestamps completions: nanoseconds of `clock`, as `now_ns()`.
int query_rt_values(ibv_context* c, ibv_values_ex* values) noexcept;
/// Prefetching faults the pages in, without guaranteeing that they stay.
int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* list,
              std::uint32_t count) noexcept;

/// GUID of the fabric (network byte order) without an open context; 0 with errno if it cannot be joined.
__be64 device_guid(ibv_device* device) noexcept;

}  // namespace chorale::soft
