// SPDX-License-Identifier: Apache-2.0
// The device, its one port, and contexts.
#pragma once

#include "objects.hpp"

namespace chorale::soft {

ibv_device** get_device_list(int* count) noexcept;
void free_device_list(ibv_device** list) noexcept;
ibv_context* open_device(ibv_device* device) noexcept;
int close_device(ibv_context* c) noexcept;
int query_device(ibv_context* c, ibv_device_attr* attributes) noexcept;
std::size_t zero_copy_from(ibv_context* c) noexcept;
int query_port(ibv_context* c, std::uint8_t port, ibv_port_attr* attributes) noexcept;
int query_gid(ibv_context* c, std::uint8_t port, int index, union ibv_gid* gid) noexcept;
int query_gid_type(ibv_context* c, std::uint8_t port, int index, std::uint32_t* type) noexcept;
int query_pkey(ibv_context* c, std::uint8_t port, int index, __be16* pkey) noexcept;
int get_async_event(ibv_context* c, ibv_async_event* event) noexcept;
void ack_async_event(ibv_async_event* event) noexcept;

}  // namespace chorale::soft
