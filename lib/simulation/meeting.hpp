// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a simulation exchange data before they can communicate.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <chorale/bootstrap/concept.hpp>

#include "scheduler.hpp"

namespace chorale::simulation {

/// The exchanges of one group, as `bootstrap::group` needs them.
class meeting {
 public:
  meeting(scheduler& time, int size, std::string machine);

  [[nodiscard]] int size() const noexcept { return static_cast<int>(here_.size()); }
  /// A description of the machine on which the ranks run.
  [[nodiscard]] const std::string& machine() const noexcept { return machine_; }
  /// Waits for all ranks as long as none has left. `deadline` zero: no limit.
  bootstrap::cards exchange(int rank, std::span<const std::byte> mine, std::chrono::milliseconds deadline);
  /// That rank takes part in no further exchange: ranks that wait for it fail.
  void leave(int rank);

 private:
  scheduler* time_;
  std::string machine_;
  wait_list settled_;  ///< the ranks that wait for the end of the current exchange
  std::vector<bool> here_;
  int arrived_ = 0;
  int first_gone_ = -1;  ///< the first rank to end: later ones end because of it
  std::uint64_t number_ = 0;
  bootstrap::cards coming_;
  bootstrap::cards complete_;
};

}  // namespace chorale::simulation
