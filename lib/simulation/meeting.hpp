// Where the ranks of a simulation tell each other of themselves before they can communicate.
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

/// The exchanges of one group, as `bootstrap::group` asks for them.
class meeting {
 public:
  meeting(scheduler& time, int size, std::string machine);

  [[nodiscard]] int size() const noexcept { return static_cast<int>(here_.size()); }
  /// On which they are, for those who read it.
  [[nodiscard]] const std::string& machine() const noexcept { return machine_; }
  /// Waits for all ranks as long as none of them has left. `deadline` zero: without a limit.
  bootstrap::cards exchange(int rank, std::span<const std::byte> mine, std::chrono::milliseconds deadline);
  /// That rank will exchange nothing more: who waits for it fails.
  void leave(int rank);

 private:
  scheduler* time_;
  std::string machine_;
  wait_list settled_;  ///< who waits for the end of the exchange under way
  std::vector<bool> here_;
  int arrived_ = 0;
  int first_gone_ = -1;  ///< in time: others end because it has
  std::uint64_t number_ = 0;
  bootstrap::cards coming_;
  bootstrap::cards complete_;
};

}  // namespace chorale::simulation
