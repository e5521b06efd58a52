// What `chorale-info --check` looks at before the first job.
#pragma once

#include <functional>
#include <string>

#include "../report.hpp"
#include "finding.hpp"

namespace info::check {

/// Settings, device, port, GID and MTU of what would be chosen.
findings of_devices(const report& r);
/// Locked memory, open files, size of files, /dev/shm, copies between processes, namespaces, ranks.
findings of_limits(const report& r);
/// Two ranks of this process over the device that would be chosen: connections, datagrams, multicast, each
/// with data that is checked.
findings of_loopback(const report& r);
/// A launcher that starts two ranks of this program; `self` is its file. Inside a job only what the job was
/// started by.
findings of_launcher(const report& r, const std::string& self);

/// All of them; `show` is called with each as soon as it is known. True if nothing is wrong.
bool run(const report& r, const std::string& self, const std::function<void(const finding&)>& show);

/// Text of one finding: a line, and one more with the remedy.
void print(const finding& f);
/// One object: `well`, `checks` (each `subject`, `verdict`, `says`, `remedy`).
std::string to_json(const findings& all);

/// The body of a rank that `of_launcher` starts: says on rank 0 what it has found. The exit status.
/// `adds`: over a communicator, else it only meets the others.
int run_rank(bool adds);

}  // namespace info::check
