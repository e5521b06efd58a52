// SPDX-License-Identifier: Apache-2.0
// Hello: who am I, how many are we, and how were we started?
//
//   mpirun -n 4 ./01_hello      four ranks
//   ./01_hello                  no launcher: a singleton, and it says so
#include <fmt/format.h>

#include <chorale/chorale.hpp>

int main() try {
  // All processes that the launcher started, over the RDMA device that this machine has.
  // Without such a device, soft0 serves: a software device inside these processes.
  chorale::communicator<> comm;

  if (comm.is_singleton()) fmt::print("I am alone: {}\n", comm.launcher());
  fmt::print("rank {} of {} on device {}\n", comm.rank(), comm.size(), comm.transport().chosen().device.name);

  // Ranks are 0, 1, ... size - 1, each once: their sum proves that all take part.
  const int sum = comm.allreduce(comm.rank(), chorale::sum);
  return sum == comm.size() * (comm.size() - 1) / 2 ? 0 : 1;
} catch (const std::exception& e) {
  // Everything that fails throws chorale::error, whose text names the call, the rank and the remedy.
  fmt::print(stderr, "01_hello: {}\n", e.what());
  return 1;
}
