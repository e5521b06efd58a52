// SPDX-License-Identifier: Apache-2.0
// Mixing of 64-bit words, for fingerprints and keys.
#pragma once

#include <cstdint>

namespace chorale::transport {

/// The finalizer of Murmur3: a bijection in which each result bit depends on all bits of `x`. Not one-way:
/// the result reveals `x`.
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ x >> 33;
}

}  // namespace chorale::transport
