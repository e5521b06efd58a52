// SPDX-License-Identifier: Apache-2.0
// Operators that show in which order they were applied, and buffers as algorithms see them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <chorale/core/blocks.hpp>
#include <chorale/core/call.hpp>

#include "../support/collectives/cases.hpp"

namespace fake {

using collectives::mixed;
using collectives::noise;

/// A buffer as an algorithm sees it.
template <class T>
std::span<std::byte> bytes_of(collectives::guarded_buffer<T>& buffer) {
  return std::as_writable_bytes(buffer.span());
}

/// The block layout of a placement of one-byte elements.
inline chorale::block_layout layout_of(const collectives::placement& where, bool even) {
  const int ranks = static_cast<int>(where.counts.size());
  if (even) return chorale::block_layout::even(ranks, where.counts.front());
  std::vector<chorale::extent> places;
  for (int r = 0; r < ranks; ++r) places.push_back({where.first(r), where.count(r)});
  return chorale::block_layout::uneven(std::move(places));
}
/// The combination of neighbouring ranks' operands. Combining in any order but rank order gives an invalid
/// value, which stays invalid.
struct stretch_of_ranks {
  std::int32_t first;
  std::int32_t last;
  std::uint32_t place;
  static constexpr stretch_of_ranks operand(std::uint64_t seed, int rank, std::size_t index) noexcept {
    return {rank, rank, static_cast<std::uint32_t>(seed + index)};
  }
  friend constexpr bool operator==(const stretch_of_ranks&, const stretch_of_ranks&) = default;
};
struct join_neighbours {
  constexpr stretch_of_ranks operator()(const stretch_of_ranks& a, const stretch_of_ranks& b) const {
    if (a.first < 0 || b.first < 0 || a.last + 1 != b.first || a.place != b.place) return {-1, -1, 0};
    return {a.first, b.last, a.place};
  }
};
/// The same with elements larger than a block.
struct long_stretch {
  std::array<stretch_of_ranks, 100> parts;
  static constexpr long_stretch operand(std::uint64_t seed, int rank, std::size_t index) noexcept {
    long_stretch one{};
    for (std::size_t i = 0; i < one.parts.size(); ++i)
      one.parts[i] = stretch_of_ranks::operand(seed, rank, index * one.parts.size() + i);
    return one;
  }
  friend constexpr bool operator==(const long_stretch&, const long_stretch&) = default;
};
struct join_long {
  constexpr long_stretch operator()(const long_stretch& a, const long_stretch& b) const {
    long_stretch joined{};
    for (std::size_t i = 0; i < joined.parts.size(); ++i)
      joined.parts[i] = join_neighbours{}(a.parts[i], b.parts[i]);
    return joined;
  }
};
/// Not associative: the result shows whether it was evaluated as in a serial loop.
struct serial {
  constexpr std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a * 31 + b; }
};

}  // namespace fake
