// Until when messages between two hosts take the last link of their way.
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
  /// That of a pair, to be set, until it is asked for the next; the beginning of time if there is none.
  instant& of(host_number from, host_number to);

  /// What is over at `now` is forgotten when it has become much, so that memory stays in proportion to what
  /// is under way.
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
  /// Into a table of so many places, a power of two.
  void move_to(std::size_t places);

  std::vector<place> places_;  // at least half of them empty
  std::size_t taken_ = 0;
  std::size_t kept_ = least;
};

}  // namespace chorale::simulation
