// SPDX-License-Identifier: Apache-2.0
// Devices, contexts and queries about them. The list of devices has only soft0: that is why users preload
// this library.
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "soft/extended.hpp"
#include "verbs_names.hpp"

using chorale::preload::soft0;

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  return soft0().get_device_list(count);
}

void ibv_free_device_list(ibv_device** list) {
  soft0().free_device_list(list);
}

const char* ibv_get_device_name(ibv_device* device) {
  return device->name;
}

__be64 ibv_get_device_guid(ibv_device* device) {
  return chorale::soft::device_guid(device);
}

int ibv_get_device_index(ibv_device*) {
  return -1;  // no kernel device
}

ibv_context* ibv_open_device(ibv_device* device) {
  return soft0().open_device(device);
}

int ibv_close_device(ibv_context* context) {
  return soft0().close_device(context);
}

int ibv_query_device(ibv_context* context, ibv_device_attr* attributes) {
  return soft0().query_device(context, attributes);
}

/// Programs that reach this symbol may have the older, shorter structure.
int ibv_query_port(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* attributes) {
  return chorale::soft::query_port_ex(context, port, reinterpret_cast<ibv_port_attr*>(attributes),
                                      offsetof(ibv_port_attr, port_cap_flags2));
}

int ibv_query_gid(ibv_context* context, std::uint8_t port, int index, union ibv_gid* gid) {
  return soft0().query_gid(context, port, index, gid);
}

int _ibv_query_gid_ex(ibv_context* context, std::uint32_t port, std::uint32_t index, ibv_gid_entry* entry,
                      std::uint32_t flags, std::size_t bytes) {
  return chorale::soft::query_gid_ex(context, port, index, entry, flags, bytes);
}

ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, std::size_t count,
                             std::uint32_t flags, std::size_t bytes) {
  return chorale::soft::query_gid_table(context, entries, count, flags, bytes);
}

/// Private to rdma-core, whose ibv_devinfo calls it: 0 is InfiniBand and RoCE v1.
int ibv_query_gid_type(ibv_context* context, std::uint8_t port, unsigned index, int* type) {
  std::uint32_t found = 0;
  if (soft0().query_gid_type(context, port, static_cast<int>(index), &found) != 0) {
    errno = EINVAL;
    return -1;
  }
  *type = 0;
  return 0;
}

int ibv_query_pkey(ibv_context* context, std::uint8_t port, int index, __be16* pkey) {
  return soft0().query_pkey(context, port, index, pkey);
}

int ibv_get_pkey_index(ibv_context* context, std::uint8_t port, __be16 pkey) {
  __be16 found = 0;
  for (int i = 0; soft0().query_pkey(context, port, i, &found) == 0; ++i)
    if (found == pkey) return i;
  errno = EINVAL;
  return -1;
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  return soft0().get_async_event(context, event);
}

void ibv_ack_async_event(ibv_async_event* event) {
  soft0().ack_async_event(event);
}

/// Nothing is pinned, so a forked child cannot take pages away from the device.
int ibv_fork_init(void) {
  return 0;
}

ibv_fork_status ibv_is_fork_initialized(void) {
  return IBV_FORK_UNNEEDED;
}

int ibv_dontfork_range(void*, std::size_t) {
  return 0;
}

int ibv_dofork_range(void*, std::size_t) {
  return 0;
}

}  // extern "C"
