// SPDX-License-Identifier: Apache-2.0
// Why a thread drives a call that it has started.
#pragma once

namespace chorale {

/// Why a thread drives its calls; it decides what is reported about a long wait.
enum class attention {
  waits,   ///< blocks on this call: a long wait is reported, and one past the deadline fails
  polls,   ///< the program polls the call (`test`, `progress`): a long wait is reported
  passes,  ///< blocks on something else and only advances this call: reports concern what it blocks on
};

}  // namespace chorale
