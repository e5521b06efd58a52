// SPDX-License-Identifier: Apache-2.0
// Jobs that hang, for status_test.py to inspect. Usage: status-ranks FOLDER MODE, where MODE is one of late,
// crossed, killed, forked, threads and many.
//
// A rank writes FOLDER/ready.RANK before it hangs. The file FOLDER/go releases the ranks that can continue,
// FOLDER/end releases all.
#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

#include "../../lib/core/printable.hpp"

namespace {

using chorale::communicator;
std::filesystem::path folder;

void tell(const std::string& what) {
  std::ofstream{folder / what} << getpid() << '\n';
}

void await(const char* what) {
  while (!std::filesystem::exists(folder / what)) std::this_thread::sleep_for(std::chrono::milliseconds{10});
}

/// Six calls, so that the seventh hangs.
void make_calls(communicator<>& comm) {
  for (int i = 0; i < 5; ++i) comm.barrier();
  (void)comm.allreduce(1.0 * comm.rank(), chorale::sum);
}

/// One rank enters the call only after FOLDER/go exists.
void late(communicator<>& comm) {
  comm.set_name("solver");
  make_calls(comm);
  tell(fmt::format("ready.{}", comm.rank()));
  if (comm.rank() == comm.size() - 1) await("go");
  comm.barrier();
}

/// Two communicators whose calls are in different orders on different ranks: none can continue.
void crossed(communicator<>& comm) {
  auto first = comm.duplicate();
  auto second = comm.duplicate();
  first.set_name("first");
  second.set_name("second");
  make_calls(second);
  tell(fmt::format("ready.{}", comm.rank()));
  (comm.rank() == 0 ? first : second).barrier();
  (comm.rank() == 0 ? second : first).barrier();
}

/// The last rank is killed; the others fail, and stay.
void killed(communicator<>& comm) {
  make_calls(comm);
  tell(fmt::format("ready.{}", comm.rank()));
  if (comm.rank() == comm.size() - 1) {
    await("go");
    kill(getpid(), SIGKILL);
  }
  try {
    comm.barrier();
  } catch (const chorale::error&) {
    tell(fmt::format("failed.{}", comm.rank()));
  }
  await("end");
}

/// Each rank has had a child that destroyed its copy of a communicator, and has one that lives.
void forked(communicator<>& comm) {
  std::optional mine{comm.duplicate()};
  mine->set_name("parents");
  make_calls(*mine);
  const pid_t first = fork();
  if (first == 0) {
    mine.reset();
    _exit(0);
  }
  int status = 0;
  waitpid(first, &status, 0);
  const pid_t second = fork();
  if (second == 0) {
    await("go");
    _exit(0);
  }
  tell(fmt::format("ready.{}", comm.rank()));
  if (comm.rank() == 0) await("go");
  mine->barrier();
  waitpid(second, &status, 0);
}

/// Many communicators whose names contain terminal control sequences.
void many(communicator<>& comm) {
  std::vector<communicator<>> all;
  for (int i = 0; i < 40; ++i) all.push_back(comm.duplicate());
  for (std::size_t i = 0; i < all.size(); ++i) all[i].set_name(fmt::format("number \x1b[31m{}", i));
  tell(fmt::format("ready.{}", comm.rank()));
  await("go");
}

void in_threads() {
  chorale::bootstrap::run_in_process(3, [](chorale::bootstrap::in_process& group) {
    communicator<> comm{group};
    late(comm);
  });
}

}  // namespace

int main(int count, char** words) try {
  if (count != 3) return 2;
  folder = words[1];
  const std::string what = words[2];
  if (what == "threads") {
    in_threads();
    return 0;
  }
  communicator<> comm;
  if (what == "late")
    late(comm);
  else if (what == "crossed")
    crossed(comm);
  else if (what == "killed")
    killed(comm);
  else if (what == "forked")
    forked(comm);
  else if (what == "many")
    many(comm);
  else
    return 2;
  return 0;
} catch (const std::exception& e) {
  chorale::say(stderr, "status-ranks: {}\n", e.what());
  return 1;
}
