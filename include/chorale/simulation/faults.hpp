// What goes wrong in a simulation.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// Faults of a simulated network and of who is on it; none unless they are set. What is a matter of chance is
/// drawn from the seed of the run, by random numbers that nothing else takes.
struct faults {
  // Of datagrams: each copy of a multicast by itself.
  std::uint32_t lost = 0;      ///< of a million datagrams, do not come
  std::uint32_t repeated = 0;  ///< of a million datagrams, come twice
  /// Of a million datagrams, come up to `longest_delay` late, so that later ones overtake them.
  std::uint32_t delayed = 0;
  /// Of a million messages of connections and answers to them: come late, and what follows on their
  /// connection comes behind them. A reliable connection loses nothing. With the same chance the adapter
  /// reads a payload late, which must not be changed before its completion.
  std::uint32_t held_up = 0;
  duration longest_delay = std::chrono::microseconds{100};  ///< of what is delayed or held up

  /// The memory of a host shows RDMA writes in any order: half of them become visible up to `longest_delay`
  /// late. What a completion at the target announces is there, and what was written before a read or an
  /// atomic operation.
  struct disorder {
    int host = 0;          ///< number, from 0
    bool of_bytes = true;  ///< parts of a write become visible by themselves
  };
  std::vector<disorder> disorders;  ///< in any order

  /// The process of a rank is killed: it does nothing more, nobody answers at its queue pairs, and nothing of
  /// it is destroyed.
  struct death {
    int rank = 0;    ///< whose process
    instant when{};  ///< of virtual time
  };
  std::vector<death> deaths;  ///< in any order

  /// The process of a rank is stopped for a time. Its adapter goes on.
  struct stop {
    int rank = 0;     ///< whose process
    instant when{};   ///< of virtual time
    duration time{};  ///< how long
  };
  std::vector<stop> stops;  ///< in any order

  /// All datagrams that come to a rank for a time are lost, as where its receive queues are full.
  struct deafness {
    int rank = 0;     ///< to whom
    instant when{};   ///< of virtual time
    duration time{};  ///< how long
  };
  std::vector<deafness> deafnesses;  ///< in any order

  /// The adapter of a host fails: its queue pairs go to the state of error, and it takes and gives nothing
  /// any more. Peers get no answers.
  struct adapter_failure {
    int host = 0;    ///< number, from 0
    instant when{};  ///< of virtual time
  };
  std::vector<adapter_failure> adapter_failures;  ///< in any order

  /// The ranks of a host do not see each other's processes, as in containers: a death shows by silence alone.
  bool hidden_processes = false;
};

}  // namespace chorale::simulation
