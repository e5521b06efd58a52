// Dividing a buffer among the ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <chorale/core/blocks.hpp>

namespace chorale {

/// One share of `bytes` for each rank, one behind the other, each a multiple of `granule` bytes but the last
/// that is not empty; as even as that allows.
inline block_layout even_shares(int ranks, std::size_t bytes, std::size_t granule) {
  const std::size_t granules = (bytes + granule - 1) / granule;
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<extent> shares(n);
  for (std::size_t r = 0; r < n; ++r) {
    // Without overflow for any number of bytes: whole parts, and one more for the first of the rest.
    const std::size_t first = (granules / n) * r + std::min(r, granules % n);
    const std::size_t count = granules / n + (r < granules % n ? 1 : 0);
    const std::size_t begin = std::min(first * granule, bytes);
    shares[r] = {begin, std::min((first + count) * granule, bytes) - begin};
  }
  return block_layout::uneven(std::move(shares));
}

/// The share of `rank` if each rank reads and combines a share of `bytes` of all ranks and writes it into the
/// memory of rank `owner`. The owner has a larger one, since it need not write: that costs about 0.6 times as
/// much as to read and combine as many bytes, and for each call as much as 16 KiB (a Xeon with soft0). The
/// shares lie one behind the other, each but the owner's a multiple of `granule` bytes.
inline extent share_for_owner(int owner, int rank, int ranks, std::size_t bytes, std::size_t granule) {
  const auto others = static_cast<std::size_t>(ranks - 1);
  if (others == 0) return {0, bytes};
  const std::size_t call = (std::size_t{1} << 14) / others;
  const std::size_t shared = bytes - std::min(bytes, call);
  // What takes all ranks the same time: shared / (n + 0.6 / (n - 1)) for each of the others.
  const std::size_t one = shared / (5 * others * (others + 1) + 3) * 5 * others / granule * granule;
  const std::size_t before = one * static_cast<std::size_t>(rank > owner ? rank - 1 : rank);
  const std::size_t larger = bytes - others * one;
  if (rank == owner) return {before, larger};
  return {before + (rank > owner ? larger : 0), one};
}

}  // namespace chorale
