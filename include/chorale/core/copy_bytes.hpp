// Copies of payloads.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include <chorale/core/clock.hpp>

namespace chorale {

/// As std::memcpy, of what may be long and is part of what a call costs: a simulation takes its time for it.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
  clock::copied(to, from, bytes);
}

/// Copies a rank's own block from where it is to where the result of the call has it, unless it is there
/// already. An algorithm does this once it has told its peers what they need to move theirs.
inline void place_own(std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  if (from.empty() || from.data() == to.data()) return;
  std::memcpy(to.data(), from.data(), from.size());
  clock::worked(host_work::own, from.size());
}

}  // namespace chorale
