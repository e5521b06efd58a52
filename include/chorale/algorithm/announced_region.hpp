// SPDX-License-Identifier: Apache-2.0
// Memory regions that ranks announce to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/algorithm/ranks_of_group.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/sendable.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::transfer {

/// The bytes of a region, for sending it in a message.
using detail::bytes_of;

/// The subregion of `whole` for `part`: exactly the bytes that a peer may access.
[[nodiscard]] inline remote_region part_of(const remote_region& whole,
                                           std::span<const std::byte> part) noexcept {
  return whole.part(reinterpret_cast<std::uintptr_t>(part.data()), part.size());
}

/// @throws error errc::mismatch if `region`, announced by rank `from`, has another owner or is not `bytes`
/// long.
template <mailbox_transport Net>
void check_region(const Net& net, int from, call_id now, const remote_region& region, std::size_t bytes) {
  if (!chorale::is_owned_by(net, from, region) || region.bytes != bytes) [[unlikely]]
    chorale::throw_unequal_sizes(net, now, from, region.bytes, net.rank(), bytes);
}

}  // namespace chorale::transfer
