// Windows of ranks that are processes. Usage: windows [EFFORT]
#include "../support/windows.hpp"

#include <cstdlib>
#include <exception>

#include <fmt/format.h>

#include <chorale/communicator.hpp>
#include <chorale/window.hpp>

#include "seed.hpp"

int main(int count, char** words) try {
  const int effort = count > 1 ? std::atoi(words[1]) : 4;
  chorale::communicator<> comm;
  const auto seed = multirank::common_seed(comm);
  windows::all_checks(comm, seed, effort);
  // In a part of the ranks, while the whole is used as well.
  const auto part = comm.split(comm.rank() % 2, -comm.rank());
  auto pending = comm.ibarrier();
  windows::all_checks(*part, seed, 1);
  pending.wait();
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "windows: {}\n", e.what());
  return 1;
}
