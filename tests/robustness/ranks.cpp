// SPDX-License-Identifier: Apache-2.0
// A job that prints its costs and its fabric. Usage: ranks [calm|fork|all-pairs], ranks edge WHAT, or ranks
// and a mode of `run_lifetime`. fork: each rank has children that exit, by exit() and by exec().
// all-pairs: every rank communicates with every other. Rank 0 prints one line of NAME=VALUE; exit status 1
// with the reason on any rank that detects an error.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

#include "modes.hpp"
#include "programs.hpp"

namespace {

/// exit() in a forked child runs the destructors of the parent's objects: it must end soon.
void fork_children() {
  for (const bool executes : {false, true}) {
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      if (executes) execlp("true", "true", nullptr);
      std::exit(executes ? 1 : 0);
    }
    robustness::join(pid, executes ? "exec() in a child" : "exit() in a child");
  }
}

template <class Comm>
void check(Comm& comm, int round) {
  const std::int64_t sum = comm.allreduce(std::int64_t{comm.rank()} + round, chorale::sum);
  const std::int64_t n = comm.size();
  if (sum != n * (n - 1) / 2 + n * round) throw std::runtime_error(fmt::format("the sum is {}", sum));
  std::vector<int> table(3000, comm.rank() == round % comm.size() ? round : -1);
  comm.broadcast(std::span{table}, chorale::root{round % comm.size()});
  for (const int value : table)
    if (value != round) throw std::runtime_error(fmt::format("the table says {}", value));
  comm.barrier();
}

template <class Comm>
long most(Comm& comm, long value) {
  return static_cast<long>(comm.allreduce(std::int64_t{value}, chorale::max));
}

template <class Comm>
void run(std::string_view mode) {
  const auto begun = std::chrono::steady_clock::now();
  const auto milliseconds = [&] {
    return static_cast<long>(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun)
            .count());
  };
  Comm comm;
  const long made = milliseconds();
  for (int round = 0; round < 5; ++round) check(comm, round);
  const long called = milliseconds();
  if (mode == "fork") fork_children();
  for (int round = 0; round < (mode == "all-pairs" ? comm.size() : 5); ++round) check(comm, round);
  const int me = static_cast<int>(getpid());
  const auto of_status = [&](const char* name) { return most(comm, robustness::status_number(me, name)); };
  const long descriptors = most(comm, robustness::descriptors(me));
  const long anonymous = of_status("RssAnon");
  const long shared = of_status("RssShmem");
  const long tables = of_status("VmPTE");
  const long slowest = most(comm, made);
  const auto gid = comm.transport().device().gid(1, 0);
  if (comm.rank() == 0) {
    std::string fabric;
    for (const auto byte : gid.raw) fabric += fmt::format("{:02x}", byte);
    fmt::print(
        "ranks={} uid={} fabric={} made_ms={} called_ms={} descriptors={} anonymous_kib={} shared_kib={} "
        "page_tables_kib={}\n",
        comm.size(), getuid(), fabric, slowest, called, descriptors, anonymous, shared, tables);
  }
  comm.barrier();
}

}  // namespace

int main(int count, char** words) {
  const std::string_view mode = count > 1 ? words[1] : "calm";
  if (mode == "edge" && count > 2) return robustness::run_edge(words[2], words[0]);
  try {
    if (robustness::run_lifetime(mode, count > 2 ? std::atoi(words[2]) : 1)) {
      if (!robustness::is_ended_child()) std::puts("ranks=all");
      return 0;
    }
    if (mode == "all-pairs")
      run<chorale::communicator<chorale::transport::rc, chorale::broadcast::flat>>(mode);
    else
      run<chorale::communicator<>>(mode);
    return 0;
  } catch (const std::exception& e) {
    fmt::print("{}\n", e.what());
    return 1;
  }
}
