// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>
#include <unistd.h>

#include "../support/runner.hpp"

// The tests fork from a process with threads, and the children start threads.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "die_after_fork=0";
}

int main(int argc, char** argv) {
  // A separate fabric: another run of these tests on this machine must not interfere.
  setenv("CHORALE_SOFT_FABRIC", ("test-" + std::to_string(getpid())).c_str(), 1);
  return support::run_tests(argc, argv);
}
