// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <signal.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../../support/runner.hpp"
#include "beside.hpp"
#include "child.hpp"

namespace {

/// Runs the hidden test case `name` for the parent process; its failures go to stderr.
int child_main(const char* name) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Kept until the end, and printed only on failure.
  const int report = memfd_create("report", MFD_CLOEXEC);
  const int status = support::run_test_case(name, ("/proc/self/fd/" + std::to_string(report)).c_str());
  if (status == 0) return 0;
  char text[4096];
  for (off_t at = 0;;) {
    const ssize_t got = pread(report, text, sizeof text, at);
    if (got <= 0) return status;
    at += got;
    std::fwrite(text, 1, static_cast<std::size_t>(got), stderr);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], conformance::child_option) == 0) return child_main(argv[2]);
  // A separate fabric: another run on this machine must not interfere.
  setenv("CHORALE_SOFT_FABRIC", ("conformance-" + std::to_string(getpid())).c_str(), 1);
  int status = 1;
  conformance::run_on_device([&] { status = support::run_tests(argc, argv); });
  return status;
}
