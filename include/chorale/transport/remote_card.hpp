// What a rank tells the others of memory that it exposes to all of them.
#pragma once

#include <cstddef>

#include <chorale/transport/concepts.hpp>

namespace chorale::transport {

/// The exposed memory of a rank, and the control words beside it.
struct remote_memory_card {
  remote_region data;
  remote_region control;

  /// True if `rank` may have sent it, for elements of `element_bytes`, where control words are like `mine`.
  [[nodiscard]] bool is_sound(int rank, std::size_t element_bytes,
                              const remote_memory_card& mine) const noexcept {
    return data.owner == rank && control.owner == rank && data.bytes % element_bytes == 0 &&
           control.bytes == mine.control.bytes;
  }
};

}  // namespace chorale::transport
