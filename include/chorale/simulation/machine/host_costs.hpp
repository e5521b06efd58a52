// SPDX-License-Identifier: Apache-2.0
// The costs of a host besides its adapter: copies, operators, polling and context switches, and messages that
// do not use the adapter.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <chorale/simulation/machine/byte_cost.hpp>
#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// The time of work on `n` bytes, which depends on the cache that holds them.
class work_cost {
 public:
  /// From `from` bytes on, a call takes `call`, and `byte` for each byte.
  struct step {
    std::uint64_t from = 0;  ///< bytes of the work
    duration call{};         ///< whatever the size
    byte_cost byte;          ///< of each byte
  };

  work_cost() = default;
  /// The first step's `from` is 0; the steps ascend.
  explicit work_cost(std::vector<step> steps) : steps_(std::move(steps)) {}

  /// The time of work on `bytes`.
  [[nodiscard]] duration operator()(std::uint64_t bytes) const noexcept {
    for (auto at = steps_.rbegin(); at != steps_.rend(); ++at)
      if (bytes >= at->from) return at->call + at->byte(bytes);
    return {};
  }

  /// The same if a cache must hold `set` bytes for these to be in it: each byte takes at least as long as in
  /// repeated work on `set` bytes.
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
  /// The same for bytes that the adapter wrote and that have not been copied since, on hosts whose adapters
  /// write past the caches; empty: as `copy`.
  work_cost copy_received;
  work_cost own;               ///< copy of a rank's own block to its position in a result
  work_cost combine;           ///< of two operands, by the bytes of one
  work_cost combine_received;  ///< the same, if the adapter wrote one operand; empty: as `combine`
  duration look{};             ///< one poll of memory by a waiting rank
  duration notice{};           ///< from a change by the adapter until a polling core has seen it
  duration context_switch{};   ///< between threads on the same core, where ranks outnumber cores
  /// The same if three or more ranks share a core, whose caches and TLB do not hold all their working sets;
  /// empty: as `context_switch`.
  std::optional<duration> crowded_context_switch{};
  duration call{};     ///< of the library, once for each collective call
  duration send{};     ///< of the library, once for each message that it sends
  duration receive{};  ///< of the library, once for each message that it takes from a receive queue
  duration match{};    ///< in addition, if it is matched with a receive

  /// A poll by a rank that waits: `look`, or more, since time must pass for it even where polls cost nothing.
  [[nodiscard]] duration waiting_look() const noexcept {
    return std::max<duration>(look, std::chrono::nanoseconds{10});
  }
};

/// Messages between two ranks of a host that do not use its adapter: the core that posts a request copies the
/// payload into the other rank's memory, and the core that reads it there fetches it from the first one's
/// cache.
struct near_costs {
  duration post{};  ///< each request, besides the copy of its payload
  duration line{};  ///< until a core that polls a cache line sees what another core has written there
  byte_cost byte;   ///< of bytes that another core's cache holds: the least that work on them takes
  /// Copies of at least this many bytes also take the time of the memory, which all cores of a host share.
  std::uint64_t uncached = 0;
  byte_cost memory;  ///< of these copies, by all cores together
  /// Until a core has a cache line that another core has changed. Cores that change a line at the same time
  /// get it one after the other.
  duration transfer{};
};

}  // namespace chorale::simulation
