// SPDX-License-Identifier: Apache-2.0
// Runs a program for its output.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace info::check {

struct outcome {
  bool ended = false;  ///< by itself, in time
  int status = -1;     ///< its exit status; -1 if a signal ended it, or it could not be started
  std::string output;  ///< standard output and error, truncated to a printable length
};

/// Runs `command` (a file, not searched for, and its arguments), without input, and without the variables
/// `removed`. After `patience`, kills its process group.
outcome output_of(const std::vector<std::string>& command, const std::vector<std::string>& removed,
                  std::chrono::seconds patience);

/// The file that a shell would run; empty if there is none.
std::string on_path(const std::string& name);

}  // namespace info::check
