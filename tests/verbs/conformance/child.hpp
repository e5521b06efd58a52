// SPDX-License-Identifier: Apache-2.0
// Other processes: this program started again to run one hidden test case, with a socket to it.
#pragma once

#include "../../support/other_process.hpp"

namespace conformance {

using support::wire;

inline constexpr const char* child_option = "--child";

/// In a child: the socket to the process that started it.
wire child_wire();

/// Why a simulated device has no child processes.
inline constexpr const char* one_process = "a simulation is one process";

/// A process of this program that runs the hidden test case `name`.
class child : public support::child_process {
 public:
  explicit child(const char* name);
};

}  // namespace conformance
