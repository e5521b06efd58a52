// How long simulating takes: prints what was simulated, and the real time, memory and events that it took.
//
//   simulation-scale RANKS MACHINE {barrier|allreduce|alltoall} BYTES CALLS
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <fmt/format.h>

#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/communicator.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/transport/rc.hpp>

namespace {

namespace sim = chorale::simulation;
using direct = chorale::communicator<chorale::transport::rc, chorale::alltoall::direct>;

/// Makes the calls, and says how long each took from the first rank's beginning to the last one's end.
sim::duration use(direct& comm, const std::string& operation, std::size_t bytes, int calls) {
  std::vector<std::byte> in(operation == "alltoall" ? bytes * static_cast<std::size_t>(comm.size()) : bytes);
  std::vector<std::byte> out(in.size());
  std::vector<double> sums(bytes / sizeof(double));
  comm.barrier();
  const sim::instant begin = sim::now();
  for (int call = 0; call < calls; ++call) {
    if (operation == "barrier")
      comm.barrier();
    else if (operation == "alltoall")
      comm.alltoall(std::span<const std::byte>{in}, std::span{out});
    else
      comm.allreduce(std::span{sums}, std::plus<>{});
  }
  return (sim::now() - begin) / calls;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    fmt::print(stderr, "usage: {} RANKS MACHINE {{barrier|allreduce|alltoall}} BYTES CALLS\n", argv[0]);
    return 2;
  }
  const int ranks = std::atoi(argv[1]);
  const std::string operation = argv[3];
  const auto bytes = static_cast<std::size_t>(std::atoll(argv[4]));
  const int calls = std::atoi(argv[5]);
  auto machine = sim::read_machine(argv[2]);
  sim::duration longest{};
  sim::duration started{};
  const auto before = std::chrono::steady_clock::now();
  const auto result = sim::run(ranks, machine, [&](sim::group& group) {
    direct comm{group, {}};
    started = std::max(started, sim::now().time_since_epoch());
    longest = std::max(longest, use(comm, operation, bytes, calls));
  });
  const std::chrono::duration<double> real = std::chrono::steady_clock::now() - before;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto microseconds = [](sim::duration d) { return static_cast<double>(d.count()) / 1e6; };
  fmt::print("{} of {} bytes on {} ranks of {}: {:.3f} us a call; communicators after {:.1f} us\n", operation,
             bytes, ranks, machine.name, microseconds(longest), microseconds(started));
  fmt::print("{:.2f} s, {} events, {:.2f} million a second, {} MiB\n", real.count(), result.events,
             static_cast<double>(result.events) / real.count() / 1e6, used.ru_maxrss / 1024);
}
