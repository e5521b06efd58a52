// Inputs for the algorithms under test, and the expected results.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <chorale/core/blocks.hpp>
#include <chorale/core/call.hpp>

#include "../support/collectives/placement.hpp"

namespace fake {

using collectives::mixed;
using collectives::noise;

/// Byte `i` of the data from rank `from` for rank `to`, or for all ranks, in the call with that seed.
inline std::byte byte_of(std::uint64_t seed, int from, int to, std::size_t i) {
  return static_cast<std::byte>(noise(seed + mixed(static_cast<std::uint64_t>(to)), from, i / 8) >>
                                i % 8 * 8);
}
constexpr int everybody = -1;

/// `bytes` bytes at any alignment, with guards around them.
class buffer {
 public:
  explicit buffer(std::size_t bytes, std::size_t misalignment = 0)
      : first_(guard + misalignment % 16), bytes_(bytes), all_(first_ + bytes + guard, filling) {}
  [[nodiscard]] std::span<std::byte> span() noexcept { return std::span{all_}.subspan(first_, bytes_); }
  [[nodiscard]] std::byte* data() noexcept { return all_.data() + first_; }
  void fill(std::uint64_t seed, int from, int to) {
    for (std::size_t i = 0; i < bytes_; ++i) data()[i] = byte_of(seed, from, to, i);
  }
  void require(const std::string& what, std::span<const std::byte> wanted) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (data()[i] != wanted[i])
        throw std::runtime_error(what + ": byte " + std::to_string(i) + " is wrong");
    const auto is_filling = [](std::byte b) { return b == filling; };
    const auto end = static_cast<std::ptrdiff_t>(first_ + bytes_);
    if (!std::all_of(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_), is_filling) ||
        !std::all_of(all_.begin() + end, all_.end(), is_filling))
      throw std::runtime_error(what + ": written outside of the buffer");
  }
  static constexpr std::byte filling{0xee};

 private:
  static constexpr std::size_t guard = 32;
  std::size_t first_;
  std::size_t bytes_;
  std::vector<std::byte> all_;
};

/// The block layout of a placement of one-byte elements.
inline chorale::block_layout layout_of(const collectives::placement& where, bool even) {
  const int ranks = static_cast<int>(where.counts.size());
  if (even) return chorale::block_layout::even(ranks, where.counts.front());
  std::vector<chorale::extent> places;
  for (int r = 0; r < ranks; ++r) places.push_back({where.first(r), where.count(r)});
  return chorale::block_layout::uneven(std::move(places));
}
/// The expected bytes of such a buffer: block r holds the data from rank r for `to`, and the gaps are
/// untouched.
inline std::vector<std::byte> image_of(const collectives::placement& where, std::uint64_t seed, int to) {
  return where.image<std::byte>([&](int r, std::size_t i) { return byte_of(seed, r, to, i); },
                                [](std::size_t) { return buffer::filling; });
}

/// The combination of neighbouring ranks' operands. Combining in any order but rank order gives an invalid
/// value, which stays invalid.
struct stretch_of_ranks {
  std::int32_t first;
  std::int32_t last;
  std::uint32_t place;
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

/// Element `i` of rank `rank`.
template <class T>
T element_of(std::uint64_t seed, int rank, std::size_t i) {
  if constexpr (std::is_same_v<T, stretch_of_ranks>) {
    return {rank, rank, static_cast<std::uint32_t>(seed + i)};
  } else if constexpr (std::is_same_v<T, long_stretch>) {
    T one{};
    for (std::size_t part = 0; part < one.parts.size(); ++part)
      one.parts[part] = element_of<stretch_of_ranks>(seed, rank, i * one.parts.size() + part);
    return one;
  } else {
    return static_cast<T>(noise(seed, rank, i));
  }
}
/// Elements [first, first + count) of ranks 0 to `last`, combined from rank 0 upwards.
template <class T, class Op>
std::vector<std::byte> folded(std::uint64_t seed, int last, std::size_t first, std::size_t count, Op op) {
  std::vector<std::byte> all(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    T result = element_of<T>(seed, 0, first + i);
    for (int r = 1; r <= last; ++r) result = op(result, element_of<T>(seed, r, first + i));
    std::memcpy(all.data() + i * sizeof(T), &result, sizeof(T));
  }
  return all;
}
/// Elements of `rank`, as bytes.
template <class T>
std::vector<std::byte> elements_of(std::uint64_t seed, int rank, std::size_t count) {
  std::vector<std::byte> all(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    const T one = element_of<T>(seed, rank, i);
    std::memcpy(all.data() + i * sizeof(T), &one, sizeof(T));
  }
  return all;
}

}  // namespace fake
