// SPDX-License-Identifier: Apache-2.0
// One rank of a simulation, before it has a communicator.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include <chorale/bootstrap/concept.hpp>

namespace chorale::simulation {

class meeting;

/// One rank of a simulation: the bootstrap group from which it makes its communicator. Exchanges take no
/// time.
class group {
 public:
  /// For `run`, which makes groups.
  group(meeting& all, int rank, int local_rank) noexcept : all_(&all), rank_(rank), local_rank_(local_rank) {}

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept;
  /// This rank's number among those of its simulated host, from 0.
  [[nodiscard]] int local_rank() const noexcept { return local_rank_; }
  [[nodiscard]] std::string job() const;
  [[nodiscard]] std::string describe() const;
  bootstrap::cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline);

 private:
  meeting* all_;
  int rank_;
  int local_rank_;
};

}  // namespace chorale::simulation
