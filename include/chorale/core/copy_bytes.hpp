// SPDX-License-Identifier: Apache-2.0
// Copies of payloads.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <chorale/core/clock.hpp>

namespace chorale {

/// As std::memcpy, for payloads: a simulation charges time for it.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
  clock::copied(to, from, bytes);
}

/// As std::memmove, for payloads: the two may overlap, and nothing happens if they are the same. `to` has
/// room for all of `from`.
inline void move_bytes(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
  if (from.empty() || from.data() == to.data()) return;
  std::memmove(to.data(), from.data(), from.size());
  clock::copied(to.data(), from.data(), from.size());
}

/// As `to.assign`, for payloads; does not zero-fill memory that it is about to write. `Byte` is std::byte: as
/// a template, only programs that use this function pay for compiling it.
template <class Byte>
void assign_bytes(std::vector<Byte>& to, std::span<const std::byte> from) {
  to.assign(from.data(), from.data() + from.size());
  clock::copied(to.data(), from.data(), from.size());
}

/// Copies a rank's own block into the result of the call, unless it is there already. An algorithm does this
/// only after it has told its peers what they need to move their blocks.
inline void place_own(std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  if (from.empty() || from.data() == to.data()) return;
  std::memcpy(to.data(), from.data(), from.size());
  clock::worked(host_work::own, from.size());
}

}  // namespace chorale
