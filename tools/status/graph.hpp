// Who waits for whom.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "seen.hpp"

namespace status {

/// The ranks of one communicator, in order; those of this host that could be read.
struct communicator {
  std::uint64_t group = 0;
  std::string label;
  int size = 1;
  int hosts = 1;
  std::vector<std::size_t> ranks;  ///< indices of places
  std::vector<int> gone;           ///< ranks that were on this host, and are not seen
};

/// Processes that have communicators with each other.
struct job {
  std::vector<const process*> processes;
  std::vector<place> places;
  std::vector<communicator> communicators;
};

/// Sorts processes into jobs: those that share a communicator, be it by others, belong together.
std::vector<job> jobs_of(const std::vector<process>& all);

/// Where a chain of waits goes on from a place.
struct step {
  enum class kind {
    waits,        ///< for the place `next`
    waits_other,  ///< its thread does, at the place `next`, in another communicator
    unseen,       ///< for a rank that is not seen here
    any,          ///< for any rank
    late,         ///< it waits for nobody
  };
  kind what = kind::late;
  std::size_t next = 0;
};

/// The wait-for graph of a job: each place leads to one other, or nowhere. Only waits that stood between two
/// looks count; others are on their way.
class graph {
 public:
  explicit graph(const job& of);

  [[nodiscard]] const step& from(std::size_t place) const { return steps_[place]; }
  /// Places whose steps lead in a circle: none of them goes on by itself. Each circle once.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& cycles() const noexcept { return cycles_; }
  /// Where chains end outside of cycles, with at least one place that waits for it.
  [[nodiscard]] const std::vector<std::size_t>& ends() const noexcept { return ends_; }
  /// Places that lead to this one directly.
  [[nodiscard]] const std::vector<std::size_t>& before(std::size_t place) const { return before_[place]; }
  /// How many wait for it, directly or by others.
  [[nodiscard]] std::size_t waiters(std::size_t place) const;
  [[nodiscard]] bool is_in_cycle(std::size_t place) const { return in_cycle_[place]; }

 private:
  void find_cycles();
  [[nodiscard]] bool leads_on(std::size_t place) const {
    return steps_[place].what == step::kind::waits || steps_[place].what == step::kind::waits_other;
  }

  std::vector<step> steps_;
  std::vector<std::vector<std::size_t>> before_;
  std::vector<bool> in_cycle_;
  std::vector<std::vector<std::size_t>> cycles_;
  std::vector<std::size_t> ends_;
};

}  // namespace status
