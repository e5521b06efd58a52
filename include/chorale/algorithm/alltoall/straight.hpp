// SPDX-License-Identifier: Apache-2.0
// The size from which blocks of an alltoall go by zero copy.
#pragma once

#include <cstddef>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/config.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::alltoall {

/// True if a block of `bytes` goes straight into the receiver's buffer; both sides know its size. This has
/// its own threshold, `config::alltoall_zero_copy_bytes`, since the setup cost is shared by all blocks of a
/// call and saved for the next calls (P5 section 4.1), whereas a single message pays all of it.
template <mailbox_transport Net>
[[nodiscard]] bool goes_straight(const Net& net, std::size_t bytes) noexcept {
  if constexpr (one_sided_transport<Net> && tunable_transport<Net>) {
    if (const auto& from = net.settings().alltoall_zero_copy_bytes) return bytes != 0 && bytes >= *from;
  }
  return transfer::is_zero_copy(net, bytes);
}

}  // namespace chorale::alltoall
