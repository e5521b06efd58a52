// SPDX-License-Identifier: Apache-2.0
// Runs part of a test in a child of fork().
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace support {

/// The result of `body` in a child, from 0 to 255; -1 if the child did not end by itself.
template <class Body>
int in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace support
