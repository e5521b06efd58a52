// Mixing of 64-bit words: secrets, keys and addresses that follow from them.
#pragma once

#include <cstdint>
#include <string_view>

namespace chorale::transport {

/// Murmur3's finaliser: a bijection, each bit of whose result depends on all bits of `x`.
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ x >> 33;
}

/// FNV-1a.
inline std::uint64_t hash_text(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

}  // namespace chorale::transport
