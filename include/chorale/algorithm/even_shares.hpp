// Dividing a buffer among the ranks.
#pragma once

#include <cstddef>
#include <vector>

#include <chorale/core/blocks.hpp>
#include <chorale/core/lean_algorithm.hpp>

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

}  // namespace chorale
