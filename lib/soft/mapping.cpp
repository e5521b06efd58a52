// SPDX-License-Identifier: Apache-2.0
// Maps memory of a connected process into this one, for loads and stores without the device.
#include <cerrno>
#include <sys/mman.h>

#include "../core/pages.hpp"
#include "queue_pair.hpp"

namespace chorale::soft {

void* map_remote(ibv_qp* base, std::uint64_t address, std::uint32_t rkey, std::size_t bytes) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  errno = EINVAL;
  if (bytes == 0 || (qp.qp_type != IBV_QPT_RC && qp.qp_type != IBV_QPT_UC)) return nullptr;
  const lock_guard lock(qp.record->send_lock, qp.owner->lock_name());
  errno = ENOTCONN;
  if (!lock || qp.state_now() != IBV_QPS_RTS) return nullptr;
  const region_view* region =
      open_region(qp, rkey, address, bytes, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
  if (region == nullptr) {
    if (qp.target != nullptr) errno = EINVAL;
    return nullptr;
  }
  errno = EOPNOTSUPP;
  if (!region->shared_memory || region->mapped == nullptr || qp.owner->copying() != copy_mode::automatic)
    return nullptr;
  // Set before the mapping exists: the owner checks it once no peer holds a send lock that it held before.
  qp.target->base->mrs[rkey >> 16].access.fetch_or(mapped_by_peer, std::memory_order_relaxed);
  // The device's own mapping ends with the peer, or is replaced when memory changes; this second mapping of
  // the same pages belongs to the caller.
  const auto place = reinterpret_cast<std::uintptr_t>(region->mapped + (address - region->begin));
  const detail::page_range pages = detail::pages_around(place, bytes);
  void* twin = mremap(pages.data(), 0, pages.bytes, MREMAP_MAYMOVE);
  if (twin == MAP_FAILED) return nullptr;
  return static_cast<unsigned char*>(twin) + (place - pages.begin);
}

int unmap_remote(void* address, std::size_t bytes) noexcept {
  const detail::page_range pages = detail::pages_around(reinterpret_cast<std::uintptr_t>(address), bytes);
  return munmap(pages.data(), pages.bytes) == 0 ? 0 : errno;
}

}  // namespace chorale::soft
