// SPDX-License-Identifier: Apache-2.0
// Other processes: this program started again to run one hidden test case, with a socket to it.
#pragma once

#include <cstddef>
#include <string>
#include <sys/types.h>

namespace conformance {

inline constexpr const char* child_option = "--child";

/// A socket to another process of the test. Waits are bounded by a minute, then throw.
class wire {
 public:
  explicit wire(int fd) : fd_(fd) {}
  template <class T>
  void send(const T& value) const {
    send_bytes(&value, sizeof value);
  }
  template <class T>
  [[nodiscard]] T receive() const {
    T value;
    receive_bytes(&value, sizeof value);
    return value;
  }
  /// A barrier of both sides.
  void meet() const {
    send(char{1});
    static_cast<void>(receive<char>());
  }

 private:
  void send_bytes(const void* data, std::size_t bytes) const;
  void receive_bytes(void* data, std::size_t bytes) const;
  int fd_;
};

/// In a child: the socket to the process that started it.
wire child_wire();

/// Why a simulated device has no child processes.
inline constexpr const char* one_process = "a simulation is one process";

/// A process of this program that runs the hidden test case `name`. The destructor kills it.
class child {
 public:
  explicit child(const char* name);
  ~child();
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  [[nodiscard]] const wire& line() const { return wire_; }
  void kill();  ///< SIGKILL, and waits for its end
  /// Waits for its end, at most a minute. Returns an empty string, or what went wrong.
  [[nodiscard]] std::string join();

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
  wire wire_{-1};
};

}  // namespace conformance
