// SPDX-License-Identifier: Apache-2.0
// The wait-for graph.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "seen.hpp"

namespace status {

/// The readable ranks of one communicator on this host, in order.
struct communicator {
  std::uint64_t group = 0;
  std::string label;
  int size = 1;
  int hosts = 1;
  std::vector<std::size_t> ranks;  ///< indices of places
  std::vector<int> gone;           ///< ranks that were on this host, and are no longer found
};

/// Processes that have communicators with each other.
struct job {
  std::vector<const process*> processes;
  std::vector<place> places;
  std::vector<communicator> communicators;
};

/// Groups processes into jobs: processes that share a communicator, directly or transitively, belong
/// together.
std::vector<job> jobs_of(const std::vector<process>& all);

/// The continuation of a chain of waits at a place.
struct step {
  enum class kind {
    waits,        ///< for the place `next`
    waits_other,  ///< its thread waits in another communicator, at the place `next`
    unseen,       ///< for a rank that is not visible here
    any,          ///< for any rank
    late,         ///< it does not wait
  };
  kind what = kind::late;
  std::size_t next = 0;
};

/// The wait-for graph of a job: each place leads to at most one other. Only waits that persist between two
/// looks count; others are making progress.
class graph {
 public:
  explicit graph(const job& of);

  [[nodiscard]] const step& from(std::size_t place) const { return steps_[place]; }
  /// Cycles of places, none of which can continue by itself. Each cycle once.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& cycles() const noexcept { return cycles_; }
  /// Ends of chains outside cycles, if at least one place waits for them.
  [[nodiscard]] const std::vector<std::size_t>& ends() const noexcept { return ends_; }
  /// Places that lead to this one directly.
  [[nodiscard]] const std::vector<std::size_t>& before(std::size_t place) const { return before_[place]; }
  /// Number of places that wait for it, directly or indirectly.
  [[nodiscard]] std::size_t waiters(std::size_t place) const;

 private:
  void find_cycles();
  [[nodiscard]] bool leads_on(std::size_t place) const {
    return steps_[place].what == step::kind::waits || steps_[place].what == step::kind::waits_other;
  }

  std::vector<step> steps_;
  std::vector<std::vector<std::size_t>> before_;
  std::vector<std::vector<std::size_t>> cycles_;
  std::vector<std::size_t> ends_;
};

}  // namespace status
