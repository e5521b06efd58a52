// Regions of memory as ranks announce them to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/core/call.hpp>
#include <chorale/core/sendable.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::transfer {

/// A region as it travels in a message.
using detail::bytes_of;

/// The address of a part of what `whole` exposes, as a region of its own: exactly what a peer may fill.
[[nodiscard]] inline remote_region part_of(const remote_region& whole,
                                           std::span<const std::byte> part) noexcept {
  return {reinterpret_cast<std::uintptr_t>(part.data()), part.size(), whole.key, whole.owner};
}

/// @throws error errc::mismatch if `region`, which rank `from` has announced, is not its own or has not as
/// many `bytes`.
template <mailbox_transport Net>
void check_region(const Net& net, int from, call_id now, const remote_region& region, std::size_t bytes) {
  if (region.owner != from || region.bytes != bytes) [[unlikely]]
    chorale::throw_unequal_sizes(now.what, from, region.bytes, net.rank(), bytes);
}

}  // namespace chorale::transfer
