// SPDX-License-Identifier: Apache-2.0
// FNV-1a: a hash of texts that is the same in every process and on every host.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace chorale::detail {

inline constexpr std::uint64_t fnv_offset_basis = 0xcbf29ce484222325ULL;

/// FNV-1a, 64 bits, of `text` appended to the data whose hash is `before`. Not collision resistant if an
/// adversary chooses the text. Source: Fowler, Noll, Vo, draft-eastlake-fnv.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text,
                                            std::uint64_t before = fnv_offset_basis) noexcept {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return before;
}

/// The same for the bytes of a number, lowest first.
template <std::unsigned_integral Number>
[[nodiscard]] constexpr std::uint64_t fnv1a(Number number, std::uint64_t before = fnv_offset_basis) noexcept {
  for (unsigned at = 0; at < 8 * sizeof number; at += 8) {
    const char byte = static_cast<char>(static_cast<unsigned char>(number >> at));
    before = fnv1a(std::string_view{&byte, 1}, before);
  }
  return before;
}

}  // namespace chorale::detail
