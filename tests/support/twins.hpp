// SPDX-License-Identifier: Apache-2.0
// Runs the same function in two processes with the same initial memory.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace support {

/// A child process that calls `f`, and the end of a pipe at which its result arrives.
struct twin {
  pid_t process = -1;
  int output = -1;
};

/// Starts `f()`, which returns a string, in a child that ends without the handlers of exit. For an exception,
/// the result is its text, preceded by "failed: ".
template <class F>
twin start_twin(F&& f) {
  int ends[2];
  if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child != 0) {
    close(ends[1]);
    return {child, ends[0]};
  }
  std::string text;
  try {
    text = f();
  } catch (const std::exception& e) {
    text = std::string{"failed: "} + e.what();
  }
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(ends[1], text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) _exit(1);
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  _exit(0);
}

/// The result of the child, and its exit status unless that is 0.
inline std::string finish(const twin& one) {
  std::string text;
  for (char some[4096];;) {
    const ssize_t got = read(one.output, some, sizeof some);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(some, static_cast<std::size_t>(got));
  }
  close(one.output);
  int status = 0;
  while (waitpid(one.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) text += "\nfailed: the child ended with status " + std::to_string(status);
  return text;
}

/// The results of `f()` in two children that start with the same memory.
template <class F>
std::array<std::string, 2> by_twins(F&& f) {
  // Nothing is allocated between the two.
  const twin first = start_twin(f);
  const twin second = start_twin(f);
  return {finish(first), finish(second)};
}

}  // namespace support
