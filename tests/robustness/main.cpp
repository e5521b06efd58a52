// SPDX-License-Identifier: Apache-2.0
// The runner, which is also the program that a member of the fabric becomes by exec().
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>

#include "../support/runner.hpp"
#include "programs.hpp"

// The tests fork from a process with threads, and the children start theirs.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "die_after_fork=0";
}

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view{argv[1]} == robustness::member_word)
    return robustness::run_member(std::atoi(argv[2]));
  // A separate fabric: other runs of these tests on this machine must stay invisible.
  setenv("CHORALE_SOFT_FABRIC", ("robust-" + std::to_string(getpid())).c_str(), 1);
  return support::run_tests(argc, argv);
}
