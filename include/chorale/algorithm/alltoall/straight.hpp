// From which size on the blocks of an alltoall go straight between the users' buffers.
#pragma once

#include <cstddef>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/config.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::alltoall {

/// True if a block of so many bytes goes straight into the receiver's buffer: both sides know its size. By
/// `config::alltoall_zero_copy_bytes`, since what that costs before is shared by all blocks of a call and
/// kept for the next (P5 section 4.1), where a message of its own pays for it alone.
template <mailbox_transport Net>
[[nodiscard]] bool goes_straight(const Net& net, std::size_t bytes) noexcept {
  if constexpr (one_sided_transport<Net> && tunable_transport<Net>) {
    if (const auto& from = net.settings().alltoall_zero_copy_bytes) return bytes != 0 && bytes >= *from;
  }
  return transfer::is_zero_copy(net, bytes);
}

}  // namespace chorale::alltoall
