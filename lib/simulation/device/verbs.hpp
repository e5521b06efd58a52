// SPDX-License-Identifier: Apache-2.0
// The verbs of sim0 and the simulated soft0, object by object, and what else is done to these objects.
#pragma once

#include <cstddef>

#include "objects.hpp"

namespace chorale::simulation::device {

struct queue_pair;

// The list of devices, the device, its port, and the open contexts (context.cpp).
/// The device of the simulated cluster, or that of the simulated host.
ibv_device** get_cluster_device(int* count) noexcept;
ibv_device** get_host_device(int* count) noexcept;
void free_device_list(ibv_device** list) noexcept;
ibv_context* open_device(ibv_device* which) noexcept;
int close_device(ibv_context* c) noexcept;
bool copies_by_core(ibv_context* c) noexcept;
bool keeps_order(ibv_context* c) noexcept;
/// The order in which RDMA writes of a connection become visible in memory.
verbs::placement_order placement_of(const context& c) noexcept;
std::size_t zero_copy_from(ibv_context* c) noexcept;
int query_device(ibv_context* c, ibv_device_attr* attributes) noexcept;
int query_port(ibv_context* c, std::uint8_t port, ibv_port_attr* attributes) noexcept;
int query_gid(ibv_context* c, std::uint8_t port, int index, union ibv_gid* gid) noexcept;
int query_gid_type(ibv_context* c, std::uint8_t port, int index, std::uint32_t* type) noexcept;
int query_pkey(ibv_context* c, std::uint8_t port, int index, __be16* pkey) noexcept;

// Protection domains, memory and its registration (memory.cpp).
ibv_pd* alloc_pd(ibv_context* c) noexcept;
int dealloc_pd(ibv_pd* pd) noexcept;
ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) noexcept;
int dereg_mr(ibv_mr* mr) noexcept;
void* allocate(ibv_context* c, std::size_t bytes) noexcept;
int release(ibv_context* c, void* address, std::size_t bytes) noexcept;

// Address vectors and handles (addresses.cpp).
/// The target of packets that are sent with these attributes.
address_vector resolve(const context& from, const ibv_ah_attr& attributes) noexcept;
/// Whether packets that a queue pair sends by that path reach the other, as far as ports and partitions
/// decide.
bool reaches(const queue_pair& from, const address_vector& path, const queue_pair& to) noexcept;

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attributes) noexcept;
int destroy_ah(ibv_ah* ah) noexcept;

// Queue pairs and shared receive queues (queue_pairs.cpp).
ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) noexcept;
int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) noexcept;
int query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask, ibv_qp_init_attr* init) noexcept;
int query_qp_data_in_order(ibv_qp* qp, ibv_wr_opcode opcode, std::uint32_t flags) noexcept;
int destroy_qp(ibv_qp* qp) noexcept;

/// Resets all queue pairs of a context.
void reset_all(context& c) noexcept;
/// Resets all queue pairs of a rank on that adapter.
void reset_all(hca& nic, int rank) noexcept;

ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) noexcept;
int modify_srq(ibv_srq* srq, ibv_srq_attr* attributes, int mask) noexcept;
int query_srq(ibv_srq* srq, ibv_srq_attr* attributes) noexcept;
int destroy_srq(ibv_srq* srq) noexcept;

// Requests (post.cpp).
int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) noexcept;
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept;
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept;

// Multicast groups (datagrams.cpp).
int attach_mcast(ibv_qp* qp, const union ibv_gid* gid, std::uint16_t lid) noexcept;
int detach_mcast(ibv_qp* qp, const union ibv_gid* gid, std::uint16_t lid) noexcept;

/// Whether a request writes to memory of the peer.
[[nodiscard]] inline bool is_write(ibv_wr_opcode opcode) noexcept {
  return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}
/// Whether it consumes a receive of the peer for its payload.
[[nodiscard]] inline bool is_send(ibv_wr_opcode opcode) noexcept {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

}  // namespace chorale::simulation::device
