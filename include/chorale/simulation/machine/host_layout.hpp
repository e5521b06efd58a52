// SPDX-License-Identifier: Apache-2.0
// Which host each rank of a simulation is on.
#pragma once

#include <algorithm>
#include <cstdint>

namespace chorale::simulation {

/// Which host each rank of a simulation is on: as few hosts as have room for all of them.
class host_layout {
 public:
  /// How ranks are numbered.
  enum class order : std::uint8_t {
    by_host,  ///< consecutive ranks are on the same host
    cyclic,   ///< consecutive ranks are on different hosts, in turn
  };

  /// One rank.
  constexpr host_layout() noexcept = default;
  /// `each`: ranks for which a host has room. Both are at least 1.
  constexpr host_layout(int ranks, int each, order by = order::by_host) noexcept
      : ranks_(ranks), each_(each), hosts_((ranks + each - 1) / each), is_cyclic_(by == order::cyclic) {}

  /// The number of ranks.
  [[nodiscard]] constexpr int ranks() const noexcept { return ranks_; }
  /// The number of hosts that have ranks.
  [[nodiscard]] constexpr int hosts() const noexcept { return hosts_; }
  /// The number of ranks on the host that has most.
  [[nodiscard]] constexpr int largest() const noexcept { return ranks_on(0); }
  /// The number of ranks on a host. Precondition: it is one of `hosts()`.
  [[nodiscard]] constexpr int ranks_on(int host) const noexcept {
    return is_cyclic_ ? (ranks_ - host + hosts_ - 1) / hosts_ : std::min(each_, ranks_ - host * each_);
  }
  /// The number of a rank's host, from 0.
  [[nodiscard]] constexpr int host_of(int rank) const noexcept {
    return is_cyclic_ ? rank % hosts_ : rank / each_;
  }
  /// The number of a rank among those of its host, from 0 in the order of ranks.
  [[nodiscard]] constexpr int number_of(int rank) const noexcept {
    return is_cyclic_ ? rank / hosts_ : rank % each_;
  }

 private:
  int ranks_ = 1;
  int each_ = 1;
  int hosts_ = 1;
  bool is_cyclic_ = false;
};

}  // namespace chorale::simulation
