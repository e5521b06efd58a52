// What a rank says of a wait that takes long while all that it waits for are alive.
#pragma once

#include <string>
#include <vector>

#include <chorale/core/lean_chrono.hpp>
#include <chorale/core/lean_functional.hpp>

namespace chorale {

/// A wait that goes on: nothing has failed. `text` says all of it in one line.
struct stall_report {
  /// What another rank of the communicator is doing.
  enum class activity {
    waits,     ///< in a call, for `waits_for`
    calls,     ///< in a call, and does not wait
    computes,  ///< outside of all calls of this communicator, perhaps in one of another
    stopped,   ///< its process is stopped, by a signal or a debugger
    silent,    ///< it has not said
    left,      ///< it has ended its communicator, or is dead
  };
  /// What is known of one other rank.
  struct rank_state {
    int rank = -1;                     ///< its number in the communicator
    activity what = activity::silent;  ///< as far as it has said
    int waits_for = -1;                ///< a rank, or -1 for any; if it `waits`
    std::string call;  ///< the call it is in, or was in last, with its number; empty if it has not said
  };

  int rank = 0;                        ///< that waits
  int waits_for = -1;                  ///< a rank, or -1 for any
  std::chrono::milliseconds waited{};  ///< so far
  std::string call;                    ///< in which it waits, with its number
  std::vector<rank_state> others;      ///< every other rank, in order
  std::string text;                    ///< all of it in one line
};

/// Is called on the thread that waits, inside its call. It must make no call of the same communicator
/// (errc::misuse). What it throws ends the wait and so fails the call.
using stall_handler = std::function<void(const stall_report&)>;

}  // namespace chorale
