// SPDX-License-Identifier: Apache-2.0
// Blocks of several sizes, in any order and with gaps, and the expected elements of their buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <chorale/bench/oracle.hpp>

namespace collectives {

using chorale::bench::expected_reduction;
using chorale::bench::letter;
using chorale::bench::mixed;
using chorale::bench::noise;
using chorale::bench::operand;

/// The positions of the blocks of all ranks in a buffer, in elements.
struct placement {
  std::vector<std::size_t> counts;
  std::vector<std::size_t> displacements;  ///< empty: contiguous blocks
  std::size_t room = 0;                    ///< elements of the buffer

  [[nodiscard]] std::size_t count(int block) const { return counts[static_cast<std::size_t>(block)]; }
  [[nodiscard]] std::size_t first(int block) const {
    const auto b = static_cast<std::ptrdiff_t>(block);
    return displacements.empty() ? std::accumulate(counts.begin(), counts.begin() + b, std::size_t{0})
                                 : displacements[static_cast<std::size_t>(block)];
  }
  /// The expected element i of the buffer: value(block, index in it), or gap(i).
  template <class T, class Value, class Gap>
  [[nodiscard]] std::vector<T> image(Value&& value, Gap&& gap) const {
    std::vector<T> all(room, gap(0));
    if (!displacements.empty() || room != first(static_cast<int>(counts.size())))
      for (std::size_t i = 0; i < room; ++i) all[i] = gap(i);
    for (int block = 0; block < static_cast<int>(counts.size()); ++block) {
      const auto at = first(block);
      for (std::size_t i = 0; i < count(block); ++i) all[at + i] = value(block, i);
    }
    return all;
  }
};

inline placement even(int ranks, std::size_t count) {
  const auto n = static_cast<std::size_t>(ranks);
  return {std::vector<std::size_t>(n, count), {}, n * count};
}

/// Up to `most` elements in a block, none in some. The same on all ranks with the same arguments.
inline std::size_t uneven_count(std::uint64_t seed, int block, std::size_t most) {
  const auto n = noise(seed, block, most);
  if (n % 4 == 0) return 0;
  return n % 4 == 1 ? most : n / 4 % (most + 1);
}

/// Contiguous blocks, or blocks in a different order with gaps between them and at the ends.
inline placement placed(std::vector<std::size_t> counts, std::uint64_t seed) {
  placement p{std::move(counts), {}, 0};
  const std::size_t blocks = p.counts.size();
  if (mixed(seed) % 3 == 0) {
    p.room = std::accumulate(p.counts.begin(), p.counts.end(), std::size_t{0}) + mixed(seed) / 4 % 3;
    return p;
  }
  std::vector<std::size_t> order(blocks);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = blocks; i > 1; --i) std::swap(order[i - 1], order[noise(seed, 1, i) % i]);
  p.displacements.resize(blocks);
  for (const auto block : order) {
    p.room += noise(seed, 2, block) % 4;
    p.displacements[block] = p.room;
    p.room += p.counts[block];
  }
  p.room += 2;
  return p;
}

/// Counts that are the same on all ranks, at positions that each rank chooses.
inline placement uneven(int ranks, std::size_t most, std::uint64_t seed, int rank) {
  std::vector<std::size_t> counts;
  for (int r = 0; r < ranks; ++r) counts.push_back(uneven_count(seed, r, most));
  return placed(std::move(counts), seed + static_cast<std::uint64_t>(rank));
}

/// Such counts of contiguous blocks.
inline placement packed(int ranks, std::size_t most, std::uint64_t seed) {
  placement p = uneven(ranks, most, seed, 0);
  p.displacements.clear();
  p.room = p.first(ranks);
  return p;
}

/// The blocks that a rank has for each and from each; only the two ranks of a pair know their sizes.
inline std::pair<placement, placement> uneven_pairs(int ranks, std::size_t most, std::uint64_t seed,
                                                    int rank) {
  std::vector<std::size_t> sent, received;
  for (int r = 0; r < ranks; ++r) {
    sent.push_back(uneven_count(seed, rank * ranks + r, most));
    received.push_back(uneven_count(seed, r * ranks + rank, most));
  }
  const auto own = seed + static_cast<std::uint64_t>(rank);
  return {placed(std::move(sent), own), placed(std::move(received), own + 1000)};
}

/// The content of the gaps of a buffer.
template <class T>
T gap_value(std::uint64_t seed, std::size_t index) {
  return operand<T>(~seed, 1 << 20, index);
}

/// The expected elements of a buffer that has the block of each rank in its place.
template <class T>
std::vector<T> image_of_ranks(const placement& where, std::uint64_t seed) {
  return where.image<T>([&](int rank, std::size_t i) { return operand<T>(seed, rank, i); },
                        [&](std::size_t i) { return gap_value<T>(seed, i); });
}

}  // namespace collectives
