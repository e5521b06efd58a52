// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soft_support.hpp"

namespace soft_test {
namespace {

using clock = std::chrono::steady_clock;

constexpr int wire_deadline_ms = 60'000;

}  // namespace

void expect(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what + " (errno " + std::to_string(errno) + ")");
}

void wire::send_bytes(const void* data, std::size_t bytes) {
  expect(::send(fd_, data, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes), "the other process is gone");
}

void wire::receive_bytes(void* data, std::size_t bytes) {
  auto* at = static_cast<unsigned char*>(data);
  while (bytes != 0) {
    pollfd p{fd_, POLLIN, 0};
    expect(::poll(&p, 1, wire_deadline_ms) == 1, "the other process says nothing");
    const ssize_t got = ::recv(fd_, at, bytes, 0);
    expect(got > 0, "the other process is gone");
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

bool wire::readable() const {
  pollfd p{fd_, POLLIN, 0};
  return ::poll(&p, 1, 0) == 1;
}

child::child(const child_main& f) {
  int ends[2];
  expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
  std::fflush(nullptr);
  pid_ = fork();
  expect(pid_ >= 0, "fork");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    int status = 0;
    try {
      wire line(ends[1]);
      f(line);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "child %d: %s\n", static_cast<int>(getpid()), e.what());
      status = 1;
    }
    std::fflush(nullptr);
    // Sanitizers report leaks and races in their exit handlers.
    std::exit(status);
  }
  close(ends[1]);
  fd_ = ends[0];
  wire_ = wire(fd_);
}

child::~child() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (fd_ >= 0) close(fd_);
}

void child::kill() {
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string child::join(int deadline_s) {
  const auto end = clock::now() + std::chrono::seconds(deadline_s);
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (clock::now() > end) {
      kill();
      return "the deadline passed";
    }
    usleep(1000);
  }
  pid_ = -1;
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "exit status " + std::to_string(WEXITSTATUS(status));
}

std::string run_pair(const child_main& left, const child_main& right, int deadline_s) {
  // Connects the wires of the two children through the parent, which only waits.
  int ends[2];
  expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
  const auto on = [&](const child_main& f, int fd, int other) {
    return [&f, fd, other](wire&) {
      close(other);
      wire line(fd);
      f(line);
    };
  };
  child a(on(left, ends[0], ends[1]));
  child b(on(right, ends[1], ends[0]));
  close(ends[0]);
  close(ends[1]);
  const std::string first = a.join(deadline_s);
  const std::string second = b.join(deadline_s);
  return first.empty() ? (second.empty() ? "" : "right: " + second) : "left: " + first + "; right: " + second;
}

}  // namespace soft_test
