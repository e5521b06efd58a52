// SPDX-License-Identifier: Apache-2.0
// Until when the messages between two hosts occupy the last link of their route.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <chorale/simulation/time.hpp>

#include "link.hpp"

namespace chorale::simulation {

/// An instant for each pair of hosts.
class flow_ends {
 public:
  /// The instant of a pair, for reading and setting, valid until the next call; initially the beginning of
  /// time.
  instant& of(host_number from, host_number to);

  /// Removes instants before `now` when the table has grown, so that memory is proportional to the number of
  /// current flows.
  void forget(instant now) {
    if (taken_ >= kept_) forget_over(now);
  }

 private:
  struct place {
    std::uint64_t key = none;
    instant end{};
  };
  static constexpr std::uint64_t none = UINT64_MAX;
  static constexpr std::size_t least = 1024;

  place& place_of(std::uint64_t key) noexcept;
  void forget_over(instant now);
  /// Rehashes into a table of `places` entries, a power of two.
  void move_to(std::size_t places);

  std::vector<place> places_;  // at least half of them empty
  std::size_t taken_ = 0;
  std::size_t kept_ = least;
};

}  // namespace chorale::simulation
