// The adapter's memory of the queue pairs that it has just used: what many connections pay (P5 section 3.2).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace chorale::simulation {

/// Contexts of queue pairs in sets of four, the least recently used of which goes. Which set a queue pair is
/// in is a hash of its number, so a cache that is nearly full misses a little, and one that is too small more
/// and more.
class context_cache {
 public:
  /// Room for `count` contexts; 0: for all.
  explicit context_cache(std::uint32_t count);

  /// Uses the context of a queue pair. Whether it was there; it is now.
  bool use(std::uint32_t queue_pair) noexcept;

  [[nodiscard]] std::uint64_t hits() const noexcept { return hits_; }
  [[nodiscard]] std::uint64_t misses() const noexcept { return misses_; }

 private:
  static constexpr std::uint32_t ways = 4;
  using set = std::array<std::uint64_t, ways>;  // queue pairs + 1, the most recent first; 0: empty

  std::vector<set> sets_;
  std::uint32_t used_ways_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace chorale::simulation
