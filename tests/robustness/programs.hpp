// SPDX-License-Identifier: Apache-2.0
// The programs of the processes of these tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "../verbs/soft_support.hpp"

namespace robustness {

/// `PROGRAM member FD` is a member of the fabric that communicates over socket FD: `run_member`.
inline constexpr std::string_view member_word = "member";
int run_member(int wire_fd) noexcept;

/// Sends its address, connects to the queue pair number that it receives, confirms that, and stays idle until
/// `line` closes or delivers a message. `shared`: others can map its memory.
void sit(soft_test::wire& line, bool shared = true);

/// A process that sits, and a connection to it whose data can be checked.
class link_to_sitter {
 public:
  link_to_sitter(soft_test::node& here, bool shared, const soft_test::rc_options& options = {});
  ~link_to_sitter();
  link_to_sitter(const link_to_sitter&) = delete;
  link_to_sitter& operator=(const link_to_sitter&) = delete;

  /// Writes a pattern of `round` there, reads it back, compares. Throws if anything is wrong.
  void check(unsigned round);
  /// Posts writes until one fails, and returns its status; `posted` counts the writes posted since the last
  /// success.
  ibv_wc_status first_failure(double seconds = 20);
  ibv_qp* qp() const { return qp_; }
  soft_test::child& process() { return sitter_; }

 private:
  soft_test::node* here_;
  soft_test::child sitter_;
  ibv_qp* qp_;
  soft_test::memory out_;
  soft_test::memory back_;
  soft_test::address to_{};
};

/// Open descriptors of a process.
int descriptors(int pid);
/// Sockets of this run's fabric that are in use on this machine: the number of its members.
int members_of_fabric();
/// A line of /proc/PID/status, in KiB for sizes; -1 if there is none.
long status_number(int pid, std::string_view name);

}  // namespace robustness
