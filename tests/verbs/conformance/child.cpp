// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <spawn.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace conformance {
namespace {

constexpr int child_fd = 3;

}  // namespace

wire child_wire() {
  return wire(child_fd);
}

child::child(const char* name) {
  int ends[2];
  support::expect_of_system(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], child_fd);
  // The kernel cannot execute a program for another processor: an emulator runs it.
  const char* const emulator = std::getenv("MESON_EXE_WRAPPER");
  std::string program = std::filesystem::read_symlink("/proc/self/exe");
  std::string first = emulator == nullptr ? program : emulator;
  std::string option = child_option;
  std::string which = name;
  std::vector<char*> arguments = {first.data(), option.data(), which.data(), nullptr};
  if (emulator != nullptr) arguments.insert(arguments.begin() + 1, program.data());
  pid_t pid = -1;
  const int failure = posix_spawn(&pid, first.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  errno = failure;
  support::expect_of_system(failure == 0, "posix_spawn");
  started(pid, ends[0]);
}

}  // namespace conformance
