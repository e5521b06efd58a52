// When fibers have a core, on hosts with more ranks than cores.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <chorale/simulation/time.hpp>

#include "event_queue.hpp"
#include "host_cores.hpp"

namespace chorale::simulation {

struct fiber;

/// Hosts whose ranks may outnumber their cores: rank `i` lives on host `i / ranks_per_host`.
struct shared_hosts {
  int ranks = 0;  ///< in all; 0: each rank has a core to itself
  int ranks_per_host = 1;
  int cores = 1;  ///< of each host
  core_costs costs;
};

/// A fiber's place among those that share cores with it.
struct core_place {
  host_cores* of = nullptr;  ///< null: it has a core to itself
  std::size_t host = 0;
  shared_core::thread number = 0;   ///< as cores know it
  std::optional<std::size_t> last;  ///< the core that it had last, or is in line for
  bool can_run = false;             ///< has that core, or is in line for it
  int changes = 0;                  ///< of what it polls since it gave way, while others had its core
};

/// Has fibers take turns on the cores of their hosts: an event for each core that is shared, at which it goes
/// to the next that has something to do. Where a host has a core for each of its ranks this does nothing.
class core_turns {
 public:
  /// `next` is set to the fiber whose turn it is.
  core_turns(event_queue& queue, fiber*& next, const shared_hosts& hosts);

  /// A new fiber gets its place.
  void adopt(fiber& born);
  /// It can run from now on, if it could not before, and does when it has a core.
  void compete(fiber& who, instant now);
  /// It sleeps, waits or has ended: others may have its core, if it has one.
  void leave(fiber& who, instant now);
  /// Others have its core first, until it has something to see, at `due` at the latest.
  void give_way(fiber& who, instant now, instant due);
  /// Whether it has a shared core, so that others wait for it.
  [[nodiscard]] static bool has_core(const fiber& who) noexcept;
  /// It has something to see, or to do, from `due` on.
  void hurry(fiber& who, instant due);

 private:
  struct host {
    host_cores cores;
    std::vector<event_id> turns;  ///< by which each core goes on
  };
  void plan(std::size_t of, std::size_t core);

  event_queue* queue_;
  fiber** next_;
  shared_hosts about_;
  std::vector<std::unique_ptr<host>> hosts_;  ///< null where each rank has a core
  std::vector<fiber*> fibers_;                ///< by the numbers under which cores know them
};

}  // namespace chorale::simulation
