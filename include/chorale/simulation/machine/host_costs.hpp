// What a host costs besides its adapter: copies, operators, looking and giving way.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <chorale/simulation/machine/byte_cost.hpp>
#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// What work on `n` bytes takes, which differs with where they lie: in a cache or beyond.
class work_cost {
 public:
  /// From `bytes` on, a call takes `call` and each byte `byte`.
  struct step {
    std::uint64_t from = 0;  ///< bytes of the work
    duration call{};         ///< whatever the size
    byte_cost byte;          ///< of each byte
  };

  work_cost() = default;
  /// The first step is from 0 on; their `from` ascend.
  explicit work_cost(std::vector<step> steps) : steps_(std::move(steps)) {}

  /// What work on so many bytes takes.
  [[nodiscard]] duration operator()(std::uint64_t bytes) const noexcept {
    for (auto at = steps_.rbegin(); at != steps_.rend(); ++at)
      if (bytes >= at->from) return at->call + at->byte(bytes);
    return {};
  }

  /// The same where the caches would have to hold so many bytes for these to be in them: no byte is cheaper
  /// than one of as many, worked on again and again.
  [[nodiscard]] duration within(std::uint64_t set, std::uint64_t bytes) const noexcept {
    const duration near = (*this)(bytes);
    if (set <= bytes || bytes == 0) return near;
    const duration far{static_cast<duration::rep>(static_cast<double>((*this)(set).count()) /
                                                  static_cast<double>(set) * static_cast<double>(bytes))};
    return far < near ? near : far;
  }

  /// The steps, ascending.
  [[nodiscard]] const std::vector<step>& steps() const noexcept { return steps_; }

 private:
  std::vector<step> steps_;
};

/// A host, all of whose cores are alike.
struct host_costs {
  int cores = 1;   ///< of the host
  work_cost copy;  ///< from memory to memory, by one core
  /// The same of bytes that the adapter wrote and that have not been copied since, on hosts whose adapters
  /// write past the caches; nothing: as `copy`.
  work_cost copy_received;
  work_cost own;               ///< the copy of a rank's own block to its place in a result
  work_cost combine;           ///< of two operands, by the bytes of one
  work_cost combine_received;  ///< the same, if the adapter wrote one of them; nothing: as `combine`
  duration look{};             ///< one look of a waiting rank at memory
  duration notice{};           ///< from a change that the adapter makes until a looking core has seen it
  duration context_switch{};   ///< from a thread to another on the same core, where ranks outnumber cores
  /// The same where three ranks or more share a core, whose caches and address translations do not hold the
  /// working sets of all of them; nothing: as `context_switch`.
  std::optional<duration> crowded_context_switch{};
  duration call{};     ///< of the library, once for each collective call
  duration send{};     ///< of the library, once for each message that it sends
  duration receive{};  ///< of the library, once for each message that it takes from a receive queue
  duration match{};    ///< further, if it is matched with a receive
};

}  // namespace chorale::simulation
