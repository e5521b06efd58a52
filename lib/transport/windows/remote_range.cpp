// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/transport/windows/remote_range.hpp>

namespace chorale::transport {

void reject_range(const remote_region& remote, std::size_t offset, std::size_t bytes, int ranks) {
  if (remote.owner < 0 || remote.owner >= ranks)
    throw error(errc::invalid_argument,
                fmt::format("one-sided operation: rank {} is not in 0..{}", remote.owner, ranks - 1));
  throw error(errc::invalid_argument,
              fmt::format("one-sided operation: {} bytes at offset {} leave the region of {} bytes that rank "
                          "{} exposes",
                          bytes, offset, remote.bytes, remote.owner));
}

}  // namespace chorale::transport
