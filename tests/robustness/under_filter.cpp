// SPDX-License-Identifier: Apache-2.0
// Runs a program under a system call filter that forbids process_vm_*. Usage: under_filter PROGRAM
// [ARGUMENT...] Exit status 77 with the reason if the kernel refuses the filter, otherwise that of the
// program.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

#include "filter.hpp"

int main(int count, char** words) {
  if (count < 2) return 2;
  if (const int status = robustness::forbid_copies(EPERM); status != 0) {
    std::printf("skipped: the kernel refuses a seccomp filter: %s\n", std::strerror(status));
    return 77;
  }
  execvp(words[1], words + 1);
  std::perror(words[1]);
  return 2;
}
