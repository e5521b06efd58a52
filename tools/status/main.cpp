// SPDX-License-Identifier: Apache-2.0
// chorale-status: the current calls of ranks in running jobs, and the ranks that they wait for.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <pwd.h>
#include <unistd.h>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"
#include "../parsing.hpp"
#include "show.hpp"

namespace {

constexpr int most_generations = 64;

std::string name_of_user(unsigned user) {
  const passwd* found = getpwuid(user);
  return found == nullptr ? fmt::format("number {}", user) : std::string{found->pw_name};
}

/// Why the process cannot be shown; empty if it can.
std::string refusal(int pid) {
  const auto who = status::identify(pid);
  if (!who) return fmt::format("there is no process {} here", pid);
  if (who->user != geteuid())
    return fmt::format(
        "process {} ({}) belongs to user {}, and this is run by {}: chorale-status shows a user's own "
        "jobs; let its owner run it (sudo -u {} chorale-status {})",
        pid, who->name, name_of_user(who->user), name_of_user(geteuid()), name_of_user(who->user), pid);
  return {};
}

/// Whether a process is `ancestor` or a descendant of it.
bool descends(int pid, int ancestor) {
  for (int i = 0; i < most_generations && pid > 0; ++i) {
    if (pid == ancestor) return true;
    const auto who = status::identify(pid);
    if (!who) return false;
    pid = who->parent;
  }
  return false;
}

struct wishes {
  int pid = 0;  ///< 0: all jobs
  bool json = false;
  bool all = false;
  int between = 250;
};

int show(const wishes& w) {
  if (w.pid != 0) {
    if (const auto why = refusal(w.pid); !why.empty()) {
      chorale::say(stderr, "chorale-status: {}\n", why);
      return 1;
    }
  }
  const auto seen = status::look_twice(std::chrono::milliseconds{w.between});
  auto jobs = status::jobs_of(seen);
  if (w.pid != 0)
    std::erase_if(jobs, [&w](const status::job& j) {
      return std::none_of(j.processes.begin(), j.processes.end(),
                          [&w](const auto* p) { return descends(p->pid, w.pid); });
    });
  if (w.json) {
    chorale::say(stdout, "{}\n", status::to_json(jobs));
  } else {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (i != 0) chorale::say(stdout, "\n");
      status::print(jobs[i], w.all ? std::numeric_limits<std::size_t>::max() : 64);
    }
  }
  if (!jobs.empty()) return 0;
  chorale::say(
      stderr, "chorale-status: {}\n",
      w.pid == 0
          ? fmt::format("no process of user {} on this host has a communicator", name_of_user(geteuid()))
          : fmt::format("neither process {} nor one that it has started has a communicator", w.pid));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Shows the running jobs of this user on this host: in which call each rank is, since when, and which\n"
      "ranks wait for which. Reads memory in which the ranks record this, and neither stops nor asks them, "
      "so\n"
      "it works on jobs that hang.\n"
      "Exit status: 0; 1 if there is no such job, or it is another user's; 2 for a mistake in the options.",
      "chorale-status"};
  wishes w;
  app.add_option("JOB", w.pid,
                 "PID of a process of the job, or of its launcher, such as mpirun (default: all jobs)")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  app.add_flag("--json", w.json, "As JSON");
  app.add_flag("--all", w.all, "Show all ranks and waits, not only the first 64 of each");
  app.add_option(
         "--between", w.between,
         "Milliseconds between the two readings: what is the same in both does not move (default 250)")
      ->check(CLI::Range(1, 60000));
  app.set_version_flag("--version", CHORALE_TOOLS_VERSION);
  if (const int status = parsing::parse(app, argc, argv); status >= 0) return status;
  try {
    return show(w);
  } catch (const std::exception& e) {
    chorale::say(stderr, "chorale-status: {}\n", e.what());
    return 1;
  }
}
