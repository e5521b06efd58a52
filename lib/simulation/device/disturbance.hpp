// SPDX-License-Identifier: Apache-2.0
// Random faults of messages in flight.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <chorale/simulation/faults.hpp>
#include <chorale/simulation/time.hpp>

#include "../../verbs/device_profile.hpp"
#include "../random_bits.hpp"

namespace chorale::simulation::device {

/// Decides for each message whether it arrives, how often and how late. Where nothing can go wrong no random
/// number is drawn, so that such a run is the same as one without faults.
class disturbance {
 public:
  disturbance() = default;
  disturbance(const faults& which, std::uint64_t seed)
      : lost_(which.lost),
        repeated_(which.repeated),
        delayed_(which.delayed),
        held_up_(which.held_up),
        longest_(which.longest_delay),
        deaf_(which.deafnesses),
        disorders_(which.disorders),
        random_(seed) {}

  /// The delay of each copy of a datagram: the first `count` of `late`; none if it is lost.
  struct copies {
    std::size_t count = 1;
    std::array<duration, 2> late{};
    [[nodiscard]] std::span<const duration> all() const noexcept { return std::span{late}.first(count); }
  };
  [[nodiscard]] copies datagram() noexcept;
  /// Whether datagrams that reach that rank at that time are lost.
  [[nodiscard]] bool is_deaf(int rank, instant now) const noexcept;
  /// The delay of a message of a connection.
  [[nodiscard]] duration message() noexcept { return late(held_up_, many_magnitudes); }
  /// The order in which RDMA writes become visible in that host's memory.
  [[nodiscard]] verbs::placement_order placement(int host) const noexcept;
  /// The delay of a part of a write to a host without order.
  [[nodiscard]] duration part() noexcept {
    return below(2) == 0 ? duration{} : late(1'000'000, many_magnitudes);
  }
  /// A random number less than `bound`, for hosts without order only.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept { return random_.below(bound); }
  /// The delay of an adapter's read of a payload.
  [[nodiscard]] duration reading() noexcept { return late(held_up_, few_magnitudes); }

 private:
  [[nodiscard]] bool happens(std::uint32_t in_a_million) noexcept {
    return in_a_million != 0 && random_.below(1'000'000) < in_a_million;
  }
  // The upper bound of a delay is one of this many, each half of the one before, with equal probability.
  static constexpr std::uint64_t many_magnitudes = 16;
  static constexpr std::uint64_t few_magnitudes = 4;
  [[nodiscard]] duration late(std::uint32_t in_a_million, std::uint64_t magnitudes) noexcept;

  std::uint32_t lost_ = 0;
  std::uint32_t repeated_ = 0;
  std::uint32_t delayed_ = 0;
  std::uint32_t held_up_ = 0;
  duration longest_ = faults{}.longest_delay;
  std::vector<faults::deafness> deaf_;
  std::vector<faults::disorder> disorders_;
  random_bits random_{0};
};

}  // namespace chorale::simulation::device
