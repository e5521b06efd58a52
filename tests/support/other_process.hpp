// SPDX-License-Identifier: Apache-2.0
// Another process of a test, and a socket to it. Waits at a socket are bounded by a minute, then throw.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <poll.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace support {

/// The result of `body` in a child of fork(), from 0 to 255; -1 if the child did not end by itself.
template <class Body>
int in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// @throws std::runtime_error with `what` and errno unless `good`.
inline void expect_of_system(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what + " (errno " + std::to_string(errno) + ")");
}

/// A socket to another process of the test.
class wire {
 public:
  explicit wire(int fd) : fd_(fd) {}
  template <class T>
  void send(const T& value) const {
    expect_of_system(::send(fd_, &value, sizeof value, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof value),
                     "the other process is gone");
  }
  template <class T>
  T receive() const {
    T value;
    receive_bytes(&value, sizeof value);
    return value;
  }
  /// True if `receive` would not wait.
  [[nodiscard]] bool readable(int milliseconds = 0) const {
    pollfd p{fd_, POLLIN, 0};
    return ::poll(&p, 1, milliseconds) == 1;
  }
  /// A barrier of both sides.
  void meet() const {
    send(char{1});
    receive<char>();
  }

 private:
  void receive_bytes(void* data, std::size_t bytes) const {
    auto* at = static_cast<unsigned char*>(data);
    while (bytes != 0) {
      expect_of_system(readable(60'000), "the other process says nothing");
      const ssize_t got = ::recv(fd_, at, bytes, 0);
      expect_of_system(got > 0, "the other process is gone");
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
  }
  int fd_;
};

/// A child process with a wire to it. The destructor kills it.
class child_process {
 public:
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  ~child_process() {
    kill();
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] wire& line() { return wire_; }
  [[nodiscard]] int pid() const { return pid_; }
  /// SIGKILL, and waits for its end.
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  /// Waits for its end. Returns an empty string, or what went wrong: its exit status, a signal, the deadline.
  std::string join(int deadline_s = 60) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{deadline_s};
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) {
        kill();
        return "the deadline passed";
      }
      usleep(1000);
    }
    pid_ = -1;
    if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : "exit status " + std::to_string(WEXITSTATUS(status));
  }

 protected:
  child_process() = default;
  /// The child has started; `fd`: its wire.
  void started(pid_t pid, int fd) {
    pid_ = pid;
    fd_ = fd;
    wire_ = wire(fd);
  }

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
  wire wire_{-1};
};

}  // namespace support
