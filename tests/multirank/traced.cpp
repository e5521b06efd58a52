// SPDX-License-Identifier: Apache-2.0
// Makes the calls that trace_test.py expects in a trace, and prints them on standard output.
//
// Usage: traced [THREADS-]MODE, where THREADS is a number of ranks in this process, without a launcher.
//   calls     blocking, nonblocking and planned calls of three communicators
//   failing   a call that fails on all ranks behind two that do not
//   killed    the last rank is killed after three calls
//   forked    a child of fork() ends by main's end
//   many      hundreds of short barriers
#include <csignal>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <chorale/bootstrap/in_process.hpp>
#include <chorale/communicator.hpp>
#include <chorale/plan.hpp>
#include <chorale/transport/ud.hpp>

namespace {

std::mutex output;

/// "call RANK NAME BYTES": one line for each call that the trace must have, in order.
void say(int rank, const std::string& what, std::size_t bytes) {
  const std::lock_guard hold{output};
  fmt::print("call {} {} {}\n", rank, what, bytes);
  std::fflush(stdout);
}

template <class Comm>
void make_calls(Comm& comm, int world_rank) {
  const int last = comm.size() - 1;
  std::vector<double> data(4);
  std::vector<double> all(4 * static_cast<std::size_t>(comm.size()));
  comm.barrier();
  say(world_rank, "barrier", 0);
  comm.broadcast(data, chorale::root{last});
  say(world_rank, "broadcast", 32);
  auto first = comm.iallreduce(chorale::in_place, data, chorale::sum);
  auto second = comm.iallgather(data, all);
  second.wait();
  first.wait();
  say(world_rank, "iallreduce", 32);
  say(world_rank, "iallgather", 32);
  auto plan = comm.plan_allgather(data, all);
  plan.run();
  say(world_rank, "allgather", 32);
  plan.start();
  plan.wait();
  say(world_rank, "iallgather", 32);
  std::vector<double> other(all.size());
  comm.alltoall(all, other);
  say(world_rank, "alltoall", 32 * static_cast<std::size_t>(comm.size()));
}

template <class Comm>
void run(Comm& comm, std::string_view mode) {
  const int rank = comm.rank();
  if (mode == "calls") {
    comm.set_name("the \"world\"");
    make_calls(comm, rank);
    auto part = comm.split(rank % 2);
    say(rank, "split", 0);
    make_calls(*part, rank);
    auto copy = comm.duplicate();
    say(rank, "split", 0);
    make_calls(copy, rank);
  } else if (mode == "failing") {
    std::vector<int> data(1);
    comm.barrier();
    say(rank, "barrier", 0);
    comm.allreduce(chorale::in_place, data, chorale::sum);
    say(rank, "allreduce", 4);
    bool failed = false;
    try {
      comm.allreduce(chorale::in_place, data,
                     [](int, int) -> int { throw std::runtime_error("the operator's"); });
    } catch (const std::exception&) {
      failed = true;
    }
    if (!failed) throw std::runtime_error("the call has not failed");
    say(rank, "allreduce", 4);
  } else if (mode == "killed") {
    for (int i = 0; i < 3; ++i) {
      comm.barrier();
      say(rank, "barrier", 0);
    }
    if (rank == comm.size() - 1) std::raise(SIGKILL);
    bool failed = false;
    try {
      comm.barrier();
    } catch (const std::exception&) {
      failed = true;
    }
    if (!failed) throw std::runtime_error("nobody has missed the last rank");
    say(rank, "barrier", 0);
  } else if (mode == "forked") {
    comm.barrier();
    say(rank, "barrier", 0);
    const pid_t child = fork();
    if (child == 0) return;  // and so ends the communicator, which belongs to its parent
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
      throw std::runtime_error("the child");
    comm.barrier();
    say(rank, "barrier", 0);
  } else if (mode == "many") {
    for (int i = 0; i < 300; ++i) {
      comm.barrier();
      say(rank, "barrier", 0);
    }
  } else {
    throw std::runtime_error("no such mode");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string_view argument = argc > 1 ? argv[1] : "";
    const auto dash = argument.find('-');
    if (dash == std::string_view::npos) {
      chorale::communicator<> comm;
      run(comm, argument);
    } else {
      const int ranks = std::atoi(argument.data());
      chorale::bootstrap::run_in_process(ranks, [&](auto& group) {
        chorale::communicator<chorale::transport::ud> comm{group};
        run(comm, argument.substr(dash + 1));
      });
    }
  } catch (const std::exception& e) {
    fmt::print(stderr, "traced: {}\n", e.what());
    return 1;
  }
}
