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

#include "../support/seed.hpp"

namespace {

/// All ranks get an error for a request that rank 0's device cannot execute.
int refused(chorale::communicator<>& comm) {
  std::vector<long> memory(1);
  chorale::window w{comm, std::span{memory}};
  try {
    if (comm.rank() == 1) w.fetch_and_op(0, 0, 1L);
    w.fence();
  } catch (const chorale::error& e) {
    windows::expect(e.code() == chorale::errc::unsupported, e.what());
    windows::expect(std::string_view{e.what()}.find("device of rank 0 has no atomic operations") !=
                        std::string_view::npos,
                    e.what());
    return 0;
  }
  windows::fail("an atomic operation that nobody can answer was not refused");
}

}  // namespace

int main(int count, char** words) try {
  if (count > 1 && std::string_view{words[1]} == "refused") {
    chorale::communicator<> comm;
    return refused(comm);
  }
  const int effort = count > 1 ? std::atoi(words[1]) : 4;
  chorale::communicator<> comm;
  const auto seed = support::common_seed(comm);
  windows::all_checks(comm, seed, effort);
  // On a part of the ranks, while the whole group is also used.
  const auto part = comm.split(comm.rank() % 2, -comm.rank());
  auto pending = comm.ibarrier();
  windows::all_checks(*part, seed, 1);
  pending.wait();
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "windows: {}\n", e.what());
  return 1;
}
