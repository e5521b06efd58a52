// SPDX-License-Identifier: Apache-2.0
// A program that starts its own ranks, like a runtime with its own processes and channel: the first process
// makes an id of 128 bytes, sends it to each of the others through a pipe, and is rank 0. Together they
// integrate 4 / (1 + x^2) from 0 to 1.
//
//   21_own_launcher [RANKS]
#include <cmath>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

using chorale::bootstrap::tcp;
using chorale::bootstrap::tcp_id;

extern char** environ;

namespace {

constexpr int intervals = 1'000'000;

/// The work of every rank. @returns the exit status
int work(const tcp_id& id, int rank, int size) {
  chorale::communicator<> comm{tcp{rank, size, id}};
  double sum = 0;
  for (int i = rank; i < intervals; i += size) {
    const double x = (i + 0.5) / intervals;
    sum += 4 / (1 + x * x);
  }
  const double pi = comm.allreduce(sum / intervals, chorale::sum);
  if (rank == 0) fmt::print("{} ranks, {}: {:.9f}\n", comm.size(), comm.launcher(), pi);
  return std::abs(pi - std::numbers::pi) < 1e-9 ? 0 : 1;
}

/// Starts this program as another rank, which reads the id from its standard input.
pid_t start(const tcp_id& id, int rank, int size) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("there is no pipe");
  std::vector<std::string> texts{"21_own_launcher", std::to_string(rank), std::to_string(size)};
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  ::posix_spawn_file_actions_addclose(&actions, ends[0]);
  ::posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  // A pipe holds at least 4 KiB, so this does not wait for the child.
  const bool is_written = ::write(ends[1], &id, sizeof id) == sizeof id;
  ::close(ends[0]);
  ::close(ends[1]);
  if (failed != 0 || !is_written) throw std::runtime_error(fmt::format("rank {} could not be started", rank));
  return child;
}

}  // namespace

int main(int count, char** words) try {
  if (count == 3) {  // started by the first process
    tcp_id id;
    if (::read(STDIN_FILENO, &id, sizeof id) != sizeof id) throw std::runtime_error("the id did not come");
    return work(id, std::atoi(words[1]), std::atoi(words[2]));
  }
  const int size = count > 1 ? std::atoi(words[1]) : 4;
  const tcp_id id =
      tcp_id::make("localhost");  // listens from here on; ranks on other hosts need a resolvable name
  std::vector<pid_t> others;
  for (int rank = 1; rank < size; ++rank) others.push_back(start(id, rank, size));
  int status = work(id, 0, size);
  for (const pid_t other : others) {
    int theirs = 1;
    ::waitpid(other, &theirs, 0);
    if (theirs != 0) status = 1;
  }
  return status;
} catch (const std::exception& e) {
  fmt::print(stderr, "21_own_launcher: {}\n", e.what());
  return 1;
}
