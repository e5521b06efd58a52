// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace conformance {
namespace {

constexpr int deadline_ms = 60'000;
constexpr int child_fd = 3;

void expect(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string{what} + " (errno " + std::to_string(errno) + ")");
}

}  // namespace

void wire::send_bytes(const void* data, std::size_t bytes) const {
  expect(::send(fd_, data, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes), "the other process is gone");
}

void wire::receive_bytes(void* data, std::size_t bytes) const {
  auto* at = static_cast<unsigned char*>(data);
  while (bytes != 0) {
    pollfd p{fd_, POLLIN, 0};
    expect(::poll(&p, 1, deadline_ms) == 1, "the other process says nothing");
    const ssize_t got = ::recv(fd_, at, bytes, 0);
    expect(got > 0, "the other process is gone");
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

wire child_wire() {
  return wire(child_fd);
}

child::child(const char* name) {
  int ends[2];
  expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
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
  const int failure = posix_spawn(&pid_, first.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  fd_ = ends[0];
  wire_ = wire(fd_);
  errno = failure;
  expect(failure == 0, "posix_spawn");
}

child::~child() {
  kill();
  if (fd_ >= 0) close(fd_);
}

void child::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string child::join() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{deadline_ms};
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill();
      return "the deadline passed";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  pid_ = -1;
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace conformance
