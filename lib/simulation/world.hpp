// SPDX-License-Identifier: Apache-2.0
// Ranks as fibers, and the system services that they use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <chorale/core/system_services.hpp>
#include <chorale/simulation/group.hpp>
#include <chorale/simulation/machine/host_layout.hpp>

#include "meeting.hpp"
#include "random_bits.hpp"
#include "scheduler.hpp"

namespace chorale::simulation {

/// The ranks of a simulation and their hosts.
struct populated_hosts {
  host_layout ranks;
  int cores = 1;  ///< of each host
  std::string machine = "a simulation";
  bool hidden_processes = false;  ///< ranks do not see each other's processes
};

/// The ranks of a simulation, each a fiber with its own random numbers, its host and its helpers.
class world final : public system_services {
 public:
  world(scheduler& time, populated_hosts where, std::uint64_t seed);

  /// Runs `body` on all ranks, as described at `simulation::run`.
  void run(const std::function<void(group&)>& body);

  /// Kills, or stops, the process of that rank. To be called from an event.
  void kill(int rank);
  void stop(int rank, instant until);

  [[nodiscard]] std::uint64_t random_word() override;
  [[nodiscard]] std::unique_ptr<helper> start_helper(std::function<void()> work) override;
  [[nodiscard]] const void* flow() const noexcept override;
  [[nodiscard]] simulated_host host() const override;
  [[nodiscard]] std::int64_t process() const noexcept override;
  [[nodiscard]] simulated_process state_of(std::int64_t process) const noexcept override;

 private:
  /// The state of a rank's process.
  struct process_life {
    bool over = false;
    instant stopped_until{};
  };
  void end(int rank);

  scheduler* time_;
  populated_hosts where_;
  std::vector<random_bits> random_;      ///< of each rank
  std::vector<process_life> processes_;  ///< of each rank
  meeting meeting_;
};

}  // namespace chorale::simulation
