// SPDX-License-Identifier: Apache-2.0
// Which caches hold which memory, as far as adapters and the library have written and read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include <chorale/simulation/machine/host_costs.hpp>
#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// Which core or adapter last touched each byte. An adapter in hardware writes past the caches; the copies of
/// a software adapter count for the core that makes them. All ranks share an address space. Reads and writes
/// by programs themselves are not known: bytes that only programs have touched count as untouched.
class written_memory {
 public:
  /// A core's number; one for each rank, unless ranks share a core.
  using core = int;
  static constexpr core adapter = -1;

  /// `by_core`: adapters are software. Otherwise bytes that a core has touched count as not written by an
  /// adapter.
  explicit written_memory(bool by_core = false) noexcept : by_core_(by_core) {}

  /// An adapter, or the core `by` in its place, has written there.
  void wrote(const void* to, std::size_t bytes, core by = adapter);
  /// A core copies, and so has touched both ranges. @returns how many of the bytes read were last touched by
  /// others.
  std::size_t copied(const void* to, const void* from, std::size_t bytes, core by);
  /// A core combines two operands. @returns how many bytes were last touched by others, in the operand with
  /// more of them.
  std::size_t combined(const void* one, const void* other, std::size_t bytes, core by);
  /// A core reads. @returns how many of the bytes were last touched by others.
  std::size_t read(const void* from, std::size_t bytes, core by);
  /// The memory is freed: nobody has touched what will be there.
  void forget(const void* memory, std::size_t bytes) noexcept;
  /// How many of these bytes the core `who` was the last to touch.
  [[nodiscard]] std::size_t had_by(const void* from, std::size_t bytes, core who) const;
  /// The mean reuse distance of those of these bytes that the core `who` was the last to touch: how many
  /// bytes it has touched since then, these included, which is the cache size that would still hold them. 0
  /// if there are none, and for adapters in hardware.
  [[nodiscard]] std::size_t reuse_distance(const void* from, std::size_t bytes, core who) const;
  /// The same for the bytes that other cores were the last to touch, each with that core's distance.
  [[nodiscard]] std::size_t distance_of_others(const void* from, std::size_t bytes, core but) const;

 private:
  struct stretch {
    std::uintptr_t end;
    core who;
    std::uint64_t when;  ///< the number of the touch
  };
  using table = std::map<std::uintptr_t, stretch>;

  template <class Counts>
  [[nodiscard]] std::size_t mean_distance(const void* from, std::size_t bytes, Counts counts) const;
  /// Removes the bytes. @returns how many of them were last touched by others than `but`.
  std::size_t take(std::uintptr_t begin, std::uintptr_t end, core but);

  /// Adds `bytes` of a stretch to those that its core has touched, or removes them.
  void enter(std::size_t bytes, const stretch& of);
  void leave(std::size_t bytes, const stretch& of);

  bool by_core_;
  table stretches_;  ///< by begin; adjacent stretches of the same touch are merged
  std::uint64_t touches_ = 0;
  /// For each core and touch, the number of bytes that were not touched again since.
  std::map<core, std::map<std::uint64_t, std::size_t>> touched_;
};

/// The time of work on `bytes` in each of two operands with the reuse distances `one` and `other`: half of
/// the work is attributed to each, since costs are measured by repeated work on the same two operands.
[[nodiscard]] inline duration of_two(const work_cost& work, std::size_t bytes, std::size_t one,
                                     std::size_t other) noexcept {
  return (work.within(one / 2, bytes) + work.within(other / 2, bytes)) / 2;
}

}  // namespace chorale::simulation
