// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same with every compiler.
#pragma once

#include <cstdint>

namespace chorale::simulation {

/// A seeded generator of random bits, usable with the standard's distributions and algorithms. Their results
/// differ between standard libraries; `below` gives the same everywhere. It is SplitMix64 (Steele, Lea,
/// Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
class random_bits {
 public:
  using result_type = std::uint64_t;
  explicit constexpr random_bits(std::uint64_t seed) noexcept : state_(seed) {}

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return UINT64_MAX; }
  constexpr result_type operator()() noexcept {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// A number from 0 to `bound` - 1, uniform except for a bias of `bound` / 2^64. `bound` is not 0.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept { return (*this)() % bound; }
  /// A generator whose numbers are independent of this one's.
  constexpr random_bits split() noexcept { return random_bits{(*this)() ^ 0x5851f42d4c957f2d}; }

 private:
  std::uint64_t state_;
};

}  // namespace chorale::simulation
