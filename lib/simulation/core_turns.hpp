// SPDX-License-Identifier: Apache-2.0
// Which fibers have a core, on hosts with more ranks than cores.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <chorale/simulation/machine/host_layout.hpp>
#include <chorale/simulation/time.hpp>

#include "event_queue.hpp"
#include "host_cores.hpp"

namespace chorale::simulation {

struct fiber;

/// Hosts whose ranks may outnumber their cores.
struct shared_hosts {
  host_layout ranks;
  int cores = 0;  ///< of each host; 0: each rank has a core to itself
  core_costs costs;
};

/// A fiber's state among those that share cores with it.
struct core_place {
  host_cores* of = nullptr;  ///< null: it has a core to itself
  std::size_t host = 0;
  shared_core::thread number = 0;   ///< the fiber's number in `host_cores`
  std::optional<std::size_t> last;  ///< the core that it had last, or queues for
  bool can_run = false;             ///< has that core, or queues for it
  duration notices{};               ///< of changes of the memory that it polls, since it gave its core away
};

/// Makes fibers take turns on the cores of their hosts. Each shared core has an event at which it passes to
/// the next fiber that has something to do. Does nothing where a host has a core for each of its ranks.
class core_turns {
 public:
  /// `next` is set to the fiber that runs next.
  core_turns(event_queue& queue, fiber*& next, const shared_hosts& hosts);

  /// Registers a new fiber.
  void adopt(fiber& born);
  /// Makes the fiber runnable, if it is not; it runs when it has a core.
  void compete(fiber& who, instant now);
  /// The fiber sleeps, waits or has ended: other fibers may use its core, if it has one.
  void leave(fiber& who, instant now);
  /// The other fibers of its core run first. The fiber continues once `hurry` is called for it, at `due` at
  /// the latest.
  void give_way(fiber& who, instant now, instant due);
  /// Whether the fiber has a shared core, for which others may be waiting.
  [[nodiscard]] static bool has_core(const fiber& who) noexcept;
  /// From `due` on the fiber has something to do: work, or a poll that will succeed.
  void hurry(fiber& who, instant due);

 private:
  struct host {
    host_cores cores;
    std::vector<event_id> turns;  ///< the pending event of each core
  };
  void plan(std::size_t of, std::size_t core);

  event_queue* queue_;
  fiber** next_;
  shared_hosts about_;
  std::vector<std::unique_ptr<host>> hosts_;  ///< null where each rank has a core
  std::vector<fiber*> fibers_;                ///< indexed by their numbers in `host_cores`
};

}  // namespace chorale::simulation
