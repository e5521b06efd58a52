// How a thread attends to a call that it has started.
#pragma once

namespace chorale {

/// Why a thread drives its calls, which decides what is reported of a long wait.
enum class attention {
  waits,   ///< waits for it: a long wait is reported, and one past the deadline fails
  polls,   ///< the program polls it (`test`, `progress`): a long wait is reported
  passes,  ///< waits for something else, and lets this make progress: what it waits for is reported
};

}  // namespace chorale
