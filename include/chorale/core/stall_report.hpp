// SPDX-License-Identifier: Apache-2.0
// A rank's report of a long wait although all ranks it waits for are alive.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace chorale {

/// Describes a wait that continues: nothing has failed. `text` says all of it in one line.
struct stall_report {
  /// What another rank of the communicator is doing.
  enum class activity {
    waits,     ///< in a call, waiting for `waits_for`
    calls,     ///< in a call, not waiting
    computes,  ///< outside all calls of this communicator, perhaps in a call of another one
    stopped,   ///< its process is stopped, by a signal or a debugger
    silent,    ///< it has not answered
    left,      ///< it has ended its communicator, or is dead
  };
  /// What is known of one other rank.
  struct rank_state {
    int rank = -1;                     ///< its rank in the communicator
    activity what = activity::silent;  ///< as far as it has answered
    int waits_for = -1;                ///< a rank, or -1 for any; valid if it `waits`
    std::string call;  ///< its current or last call, with its number; empty if it has not answered
  };

  int rank = 0;                        ///< the rank that waits
  int waits_for = -1;                  ///< the rank it waits for, or -1 for any
  std::chrono::milliseconds waited{};  ///< so far
  std::string call;                    ///< the call in which it waits, with its number
  std::vector<rank_state> others;      ///< every other rank, in order
  std::string text;                    ///< all of it in one line
};

/// Runs on the waiting thread, inside its call. It must not call the same communicator (errc::misuse). An
/// exception that it throws ends the wait and fails the call.
using stall_handler = std::function<void(const stall_report&)>;

}  // namespace chorale
