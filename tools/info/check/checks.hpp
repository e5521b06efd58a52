// SPDX-License-Identifier: Apache-2.0
// The checks of `chorale-info --check`.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../report.hpp"

namespace info::check {

enum class verdict {
  ok,
  note,   ///< a job will run, but slower or not on every device
  wrong,  ///< a job will fail
};

struct finding {
  verdict what = verdict::ok;
  std::string subject;  ///< "open files"
  std::string says;     ///< one sentence
  std::string remedy;   ///< a command or an instruction; empty if all is well
};
using findings = std::vector<finding>;

inline finding ok(std::string subject, std::string says) {
  return {verdict::ok, std::move(subject), std::move(says), {}};
}
inline finding note(std::string subject, std::string says, std::string remedy) {
  return {verdict::note, std::move(subject), std::move(says), std::move(remedy)};
}
inline finding wrong(std::string subject, std::string says, std::string remedy) {
  return {verdict::wrong, std::move(subject), std::move(says), std::move(remedy)};
}

/// Settings, and the device, port, GID and MTU that would be chosen.
findings of_devices(const report& r);
/// Locked memory, open files, size of files, /dev/shm, copies between processes, namespaces, ranks.
findings of_limits(const report& r);
/// Two ranks of this process over the device that would be chosen: connections, datagrams, multicast, each
/// with data that is checked.
findings of_loopback(const report& r);
/// Starts two ranks of this program, whose file is `self`, by a launcher. Inside a job, only reports what
/// started the job.
findings of_launcher(const report& r, const std::string& self);

/// Runs all checks; calls `show` with each finding as soon as it is known. True if nothing is wrong.
bool run(const report& r, const std::string& self, const std::function<void(const finding&)>& show);

/// Prints one finding: a line, and another with the remedy.
void print(const finding& f);
/// One object: `well`, `checks` (each `subject`, `verdict`, `says`, `remedy`).
std::string to_json(const findings& all);

/// The body of a rank started by `of_launcher`: rank 0 prints the result. Returns the exit status. `adds`:
/// sums over a communicator; otherwise the ranks only meet.
int run_rank(bool adds);

}  // namespace info::check
