// SPDX-License-Identifier: Apache-2.0
// A job that reports when another user may act, and then continues.
#include <cstdio>
#include <exception>
#include <string_view>

#include <fmt/format.h>

#include <chorale/chorale.hpp>
#include <chorale/verbs/device.hpp>

namespace {

/// All ranks wait until the test has sent a line to rank 0.
void wait_for_test(chorale::communicator<>& comm) {
  comm.barrier();
  if (comm.rank() == 0) {
    fmt::print("ready\n");
    std::fflush(stdout);
    while (std::getchar() != '\n' && std::feof(stdin) == 0) {
    }
  }
  comm.barrier();
}

}  // namespace

/// `victim once` makes one communicator; `victim twice` makes another one when the test has sent its line;
/// `victim alone` opens soft0 without a launcher.
int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string_view{argv[1]} == "alone")
      return chorale::verbs::device::open("soft0").is_soft() ? 0 : 1;
    chorale::communicator<> comm;
    wait_for_test(comm);
    if (argc > 1 && std::string_view{argv[1]} == "twice") {
      auto part = comm.split(0, chorale::key{comm.rank()});
      part->barrier();
    }
    if (comm.rank() == 0) fmt::print("done\n");
    return 0;
  } catch (const std::exception& e) {
    fmt::print("error: {}\n", e.what());
    return 1;
  }
}
