// SPDX-License-Identifier: Apache-2.0
// Windows of ranks that are processes. Usage: windows [EFFORT]; or windows refused, if only rank 0's device
// has no atomic operations.
#include "../support/windows.hpp"

#include <cstdlib>
#include <exception>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <chorale/communicator.hpp>
#include <chorale/window.hpp>

#include "../support/expect.hpp"
#include "../support/seed.hpp"

namespace {

/// All ranks get an error for a request that rank 0's device cannot execute.
void check_refused(chorale::communicator<>& comm) {
  std::vector<long> memory(1);
  chorale::window w{comm, std::span{memory}};
  support::refused(chorale::errc::unsupported, {"device of rank 0 has no atomic operations"}, [&] {
    if (comm.rank() == 1) w.fetch_and_op(0, 0, 1L, chorale::sum);
    w.fence();
  });
}

}  // namespace

int main(int count, char** words) try {
  if (count > 1 && std::string_view{words[1]} == "refused") {
    chorale::communicator<> comm;
    check_refused(comm);
    return 0;
  }
  const int effort = count > 1 ? std::atoi(words[1]) : 4;
  chorale::communicator<> comm;
  const auto seed = support::common_seed(comm);
  windows::all_checks(comm, seed, effort);
  // On a part of the ranks, while the whole group is also used.
  auto part = comm.split(comm.rank() % 2, chorale::key{-comm.rank()});
  auto pending = comm.ibarrier();
  windows::all_checks(*part, seed, 1);
  pending.wait();
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "windows: {}\n", e.what());
  return 1;
}
