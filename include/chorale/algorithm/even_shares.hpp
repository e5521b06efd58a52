// SPDX-License-Identifier: Apache-2.0
// Dividing a buffer among the ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <chorale/core/blocks.hpp>

namespace chorale {

/// Divides `bytes` into one share per rank, one after the other and as even as possible. Each share is a
/// multiple of `granule` bytes, except the last that is not empty.
inline block_layout even_shares(int ranks, std::size_t bytes, std::size_t granule) {
  const std::size_t granules = (bytes + granule - 1) / granule;
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<extent> shares(n);
  for (std::size_t r = 0; r < n; ++r) {
    // Each rank gets the quotient, and the first ranks one more for the remainder; this cannot overflow.
    const std::size_t first = (granules / n) * r + std::min(r, granules % n);
    const std::size_t count = granules / n + (r < granules % n ? 1 : 0);
    const std::size_t begin = std::min(first * granule, bytes);
    shares[r] = {begin, std::min((first + count) * granule, bytes) - begin};
  }
  return block_layout::uneven(std::move(shares));
}

/// The share of `rank` if each rank combines a share of the `bytes` of all ranks and writes it into the
/// memory of rank `owner`. The owner's share is larger, since the owner need not write: on a Xeon with soft0,
/// writing costs about 0.6 times as much as reading and combining the same bytes, plus as much as 16 KiB per
/// call. The shares follow each other; each but the owner's is a multiple of `granule` bytes.
inline extent share_for_owner(int owner, int rank, int ranks, std::size_t bytes, std::size_t granule) {
  const auto others = static_cast<std::size_t>(ranks - 1);
  if (others == 0) return {0, bytes};
  const std::size_t call = (std::size_t{1} << 14) / others;
  const std::size_t shared = bytes - std::min(bytes, call);
  // All ranks take equally long if each of the others gets shared / (n + 0.6 / (n - 1)).
  const std::size_t one = shared / (5 * others * (others + 1) + 3) * 5 * others / granule * granule;
  const std::size_t before = one * static_cast<std::size_t>(rank > owner ? rank - 1 : rank);
  const std::size_t larger = bytes - others * one;
  if (rank == owner) return {before, larger};
  return {before + (rank > owner ? larger : 0), one};
}

}  // namespace chorale
