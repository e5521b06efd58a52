// SPDX-License-Identifier: Apache-2.0
// The contents of simulated messages, by which the receiver recognises them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace protocols {

/// The byte at index `i` of the message, or write, with that name.
inline std::byte content(std::uint64_t name, std::size_t i) noexcept {
  const std::uint64_t mixed = (name + i / 8) * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::byte>(mixed >> (i % 8 * 8));
}
inline void fill(std::span<std::byte> bytes, std::uint64_t name) noexcept {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = content(name, i);
}
inline bool is_filled(std::span<const std::byte> bytes, std::uint64_t name) noexcept {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != content(name, i)) return false;
  return true;
}
inline std::uint64_t name_of(int from, int to, std::uint32_t number) noexcept {
  return static_cast<std::uint64_t>(from) << 48 | static_cast<std::uint64_t>(to) << 32 | number;
}
inline std::size_t size_of(std::uint64_t name, std::size_t most) noexcept {
  return (name * 0xff51afd7ed558ccdULL >> 33) % (most + 1);
}

}  // namespace protocols
