// FNV-1a: a number for a text, the same in each process and on each host.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace chorale::detail {

inline constexpr std::uint64_t fnv_offset_basis = 0xcbf29ce484222325ULL;

/// FNV-1a of 64 bits, of `text` behind what `before` is the hash of. Who chooses the text can choose the
/// hash. Source: Fowler, Noll, Vo, draft-eastlake-fnv.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text,
                                            std::uint64_t before = fnv_offset_basis) noexcept {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return before;
}

/// The same of the bytes of a number, the lowest first.
template <std::unsigned_integral Number>
[[nodiscard]] constexpr std::uint64_t fnv1a(Number number, std::uint64_t before = fnv_offset_basis) noexcept {
  for (unsigned at = 0; at < 8 * sizeof number; at += 8) {
    const char byte = static_cast<char>(static_cast<unsigned char>(number >> at));
    before = fnv1a(std::string_view{&byte, 1}, before);
  }
  return before;
}

}  // namespace chorale::detail
