// A program that is run for what it prints.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace info::check {

struct outcome {
  bool ended = false;  ///< of itself, in time
  int status = -1;     ///< its exit status; -1 if a signal ended it, or it could not be started
  std::string output;  ///< standard output and error, of a length that can be shown
};

/// Runs `command` (a file, not searched for, and its arguments), without input, and without the variables
/// `removed`. After `patience` it is ended, and its process group with it.
outcome output_of(const std::vector<std::string>& command, const std::vector<std::string>& removed,
                  std::chrono::seconds patience);

/// The file that a shell would run; empty if there is none.
std::string on_path(const std::string& name);

}  // namespace info::check
