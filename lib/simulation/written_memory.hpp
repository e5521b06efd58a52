// In whose caches memory is, as far as adapters and the library have written and read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include <chorale/simulation/machine/host_costs.hpp>
#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// Who has last had bytes of memory: an adapter that wrote them past the caches, or, where adapters are
/// software, so that each byte goes through some core, that core. All ranks share an address space. What
/// programs read and write by themselves it does not know: such bytes nobody has had.
class written_memory {
 public:
  /// By number; for each rank one, unless ranks share some.
  using core = int;
  static constexpr core adapter = -1;

  /// `by_core`: adapters are software. If not, bytes that a core has touched are as if no adapter had written
  /// them.
  explicit written_memory(bool by_core = false) noexcept : by_core_(by_core) {}

  /// An adapter has written there, or a core for it.
  void wrote(const void* to, std::size_t bytes, core by = adapter);
  /// A core copies: it has had both then. @returns how many of the bytes that it reads somebody else had.
  std::size_t copied(const void* to, const void* from, std::size_t bytes, core by);
  /// A core combines what is in two places. @returns how many bytes of the one that had more of them somebody
  /// else had.
  std::size_t combined(const void* one, const void* other, std::size_t bytes, core by);
  /// A core reads. @returns how many of the bytes somebody else had.
  std::size_t read(const void* from, std::size_t bytes, core by);
  /// How many of these bytes that core has had last.
  [[nodiscard]] std::size_t had_by(const void* from, std::size_t bytes, core who) const;
  /// How many bytes that core has touched since it had these, those included: what its caches would have to
  /// hold to have them still. The mean of the bytes that it had last; 0 where there are none, and where
  /// adapters write themselves.
  [[nodiscard]] std::size_t reuse_distance(const void* from, std::size_t bytes, core who) const;
  /// The same of those that other cores had last, each by what that core has touched since.
  [[nodiscard]] std::size_t distance_of_others(const void* from, std::size_t bytes, core but) const;

 private:
  struct stretch {
    std::uintptr_t end;
    core who;
    std::uint64_t when;  ///< in touches
  };
  using table = std::map<std::uintptr_t, stretch>;

  template <class Counts>
  [[nodiscard]] std::size_t mean_distance(const void* from, std::size_t bytes, Counts counts) const;
  /// Takes the bytes out. @returns how many there were of others than `but`.
  std::size_t take(std::uintptr_t begin, std::uintptr_t end, core but);

  /// That stretch begins to count, or no longer does, among what its core has touched.
  void enter(std::size_t bytes, const stretch& of);
  void leave(std::size_t bytes, const stretch& of);

  bool by_core_;
  table stretches_;  ///< by where they begin; neighbours of the same touch are one
  std::uint64_t touches_ = 0;
  /// Of each core, how many bytes each touch was the last to touch.
  std::map<core, std::map<std::uint64_t, std::size_t>> touched_;
};

/// What work on so many bytes in each of two places takes, whose reuse distances are these: half of it is put
/// down to each. Costs of so many bytes were found by working on the same two places again and again.
[[nodiscard]] inline duration of_two(const work_cost& work, std::size_t bytes, std::size_t one,
                                     std::size_t other) noexcept {
  return (work.within(one / 2, bytes) + work.within(other / 2, bytes)) / 2;
}

}  // namespace chorale::simulation
