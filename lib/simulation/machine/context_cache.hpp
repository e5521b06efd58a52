// SPDX-License-Identifier: Apache-2.0
// The adapter's cache of queue pair contexts, which limits how many connections are cheap (P5 section 3.2).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace chorale::simulation {

/// A set-associative cache with sets of four contexts and LRU replacement. A queue pair's set is a hash of
/// its number, so a nearly full cache already has a few misses, and their rate grows with further queue
/// pairs.
class context_cache {
 public:
  /// Room for `count` contexts; 0: unlimited.
  explicit context_cache(std::uint32_t count);

  /// Uses the context of a queue pair, and loads it. @returns whether it was in the cache.
  bool use(std::uint32_t queue_pair) noexcept;

  [[nodiscard]] std::uint64_t hits() const noexcept { return hits_; }
  [[nodiscard]] std::uint64_t misses() const noexcept { return misses_; }

 private:
  static constexpr std::uint32_t ways = 4;
  using set = std::array<std::uint64_t, ways>;  // numbers of queue pairs + 1, the most recent first; 0: empty

  std::vector<set> sets_;
  std::uint32_t used_ways_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace chorale::simulation
