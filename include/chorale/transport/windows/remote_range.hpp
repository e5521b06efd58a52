// SPDX-License-Identifier: Apache-2.0
// The bounds check of one-sided operations.
#pragma once

#include <cstddef>

#include <chorale/transport/concepts.hpp>

namespace chorale::transport {

[[noreturn]] void reject_range(const remote_region& remote, std::size_t offset, std::size_t bytes, int ranks);

/// @throws error errc::invalid_argument unless `bytes` at `offset` lie within the region, and its owner is
/// one of `ranks` ranks.
inline void require_within(const remote_region& remote, std::size_t offset, std::size_t bytes, int ranks) {
  if (static_cast<unsigned>(remote.owner) >= static_cast<unsigned>(ranks) || offset > remote.bytes ||
      bytes > remote.bytes - offset) [[unlikely]]
    reject_range(remote, offset, bytes, ranks);
}

}  // namespace chorale::transport
