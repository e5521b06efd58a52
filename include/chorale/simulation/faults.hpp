// SPDX-License-Identifier: Apache-2.0
// Faults of a simulation.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// Faults of a simulated network, its hosts and ranks; none by default. Random faults are drawn from the
/// run's seed, by a generator of their own.
struct faults {
  // Datagrams; each copy of a multicast counts separately.
  std::uint32_t lost = 0;      ///< of a million datagrams, how many are lost
  std::uint32_t repeated = 0;  ///< of a million datagrams, how many arrive twice
  /// Of a million datagrams, how many arrive up to `longest_delay` late, so that later ones overtake them.
  std::uint32_t delayed = 0;
  /// Of a million messages of connections, and of their answers, how many arrive late; later ones of the
  /// connection arrive after them. A reliable connection loses nothing. With the same probability the adapter
  /// reads a payload late: the program must not change it before its completion.
  std::uint32_t held_up = 0;
  duration longest_delay = std::chrono::microseconds{100};  ///< for `delayed` and `held_up`

  /// RDMA writes to a host become visible in any order: half of them up to `longest_delay` late. A write is
  /// visible before a completion at the target that announces it, and before a later read or atomic
  /// operation.
  struct disorder {
    int host = 0;          ///< number, from 0
    bool of_bytes = true;  ///< parts of a write become visible separately
  };
  std::vector<disorder> disorders;  ///< in any order

  /// The process of a rank is killed: it does nothing more, its queue pairs no longer respond, and none of
  /// its destructors run.
  struct death {
    int rank = 0;    ///< rank of the process
    instant when{};  ///< of virtual time
  };
  std::vector<death> deaths;  ///< in any order

  /// The process of a rank is stopped for a time. Its adapter continues.
  struct stop {
    int rank = 0;     ///< rank of the process
    instant when{};   ///< of virtual time
    duration time{};  ///< how long
  };
  std::vector<stop> stops;  ///< in any order

  /// All datagrams to a rank are lost for a time, as with full receive queues.
  struct deafness {
    int rank = 0;     ///< the receiver
    instant when{};   ///< of virtual time
    duration time{};  ///< how long
  };
  std::vector<deafness> deafnesses;  ///< in any order

  /// The adapter of a host fails: its queue pairs go to the error state, and it sends and receives nothing
  /// more. Peers get no answers. The soft0 of the host continues.
  struct adapter_failure {
    int host = 0;    ///< number, from 0
    instant when{};  ///< of virtual time
  };
  std::vector<adapter_failure> adapter_failures;  ///< in any order

  /// The ranks of a host do not see each other's processes, as in containers: only silence reveals a death.
  bool hidden_processes = false;
};

}  // namespace chorale::simulation
