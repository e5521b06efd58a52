// SPDX-License-Identifier: Apache-2.0
// A rank's description of memory that it exposes to all others.
#pragma once

#include <cstddef>

#include <chorale/transport/concepts.hpp>

namespace chorale::transport {

/// The exposed memory of a rank, and the control words beside it.
struct remote_memory_card {
  remote_region data;
  remote_region control;

  /// True if `rank` may have sent it, for elements of `element_bytes`, given that control words are laid out
  /// as in `mine`.
  [[nodiscard]] bool is_sound(int rank, std::size_t element_bytes,
                              const remote_memory_card& mine) const noexcept {
    return data.owner == rank && control.owner == rank && data.bytes % element_bytes == 0 &&
           control.bytes == mine.control.bytes;
  }
};

}  // namespace chorale::transport
