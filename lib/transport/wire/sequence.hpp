// SPDX-License-Identifier: Apache-2.0
// Sequence numbers of packets, which wrap around.
#pragma once

#include <cstdint>

namespace chorale::transport {

/// Number of a packet in the stream from one rank to another, modulo 2^32. Comparisons are correct for
/// distances below 2^31; a window is at most 64 wide.
using sequence = std::uint32_t;

/// Each stream begins shortly before the wrap, so that every run of a program passes it.
inline constexpr sequence first_sequence = 0xffffff00U;

/// The distance from `from` to `to` in the stream; negative if `to` precedes `from`.
constexpr std::int32_t distance(sequence from, sequence to) noexcept {
  return static_cast<std::int32_t>(to - from);
}

/// Advances a 64-bit counter to the value whose low 32 bits a peer has sent.
constexpr std::uint64_t caught_up(std::uint64_t known, std::uint32_t told) noexcept {
  const std::int32_t ahead = distance(static_cast<std::uint32_t>(known), told);
  return ahead > 0 ? known + static_cast<std::uint32_t>(ahead) : known;
}

}  // namespace chorale::transport
