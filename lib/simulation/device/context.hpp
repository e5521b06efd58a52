// SPDX-License-Identifier: Apache-2.0
// The list of devices, the device, its port, and the open contexts.
#pragma once

#include "objects.hpp"

namespace chorale::simulation::device {

ibv_device** get_device_list(int* count) noexcept;
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

}  // namespace chorale::simulation::device
