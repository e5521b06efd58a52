// Copies of payloads.
#pragma once

#include <cstddef>
#include <cstring>

#include <chorale/core/clock.hpp>

namespace chorale {

/// As std::memcpy, of what may be long and is part of what a call costs: a simulation takes its time for it.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
  clock::copied(to, from, bytes);
}

}  // namespace chorale
