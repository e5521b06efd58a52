// SPDX-License-Identifier: Apache-2.0
// Checks a launcher by starting two ranks of this program.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

#include "../../../lib/core/printable.hpp"
#include "checks.hpp"
#include "child.hpp"

namespace info::check {
namespace {

using namespace std::chrono_literals;

constexpr const char* subject = "launcher";
constexpr const char* said = "chorale-info rank 0: ";  // printed by run_rank
constexpr const char* remedy =
    "install one with a PMIx server: `apt install openmpi-bin` (Debian, Ubuntu), `dnf install openmpi` "
    "(Fedora, RHEL), PRRTE, or Slurm with its PMIx plugin";

struct launcher {
  std::string file;
  std::string name;                    ///< with its version
  std::vector<std::string> arguments;  ///< for two ranks, on any cores
};

/// Joins the nonempty lines into one.
std::string in_one_line(const std::string& text) {
  std::string joined;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" -\t\r") == std::string::npos) continue;
    joined += (joined.empty() ? "" : " | ") + line.substr(line.find_first_not_of(" \t"));
  }
  return chorale::printable(joined, 600);
}

std::string first_line(const std::string& text) {
  return chorale::printable(text.substr(0, text.find('\n')), 120);
}

/// The launcher in that file, if it is known to serve PMIx.
launcher identified(const std::string& file) {
  const auto version = output_of({file, "--version"}, {}, 20s);
  launcher found{file, first_line(version.output), {"-n", "2", "--oversubscribe"}};
  const bool is_prrte = version.output.find("PRRTE") != std::string::npos ||
                        version.output.find("prterun") != std::string::npos;
  const bool is_open_mpi = version.output.find("Open MPI") != std::string::npos ||
                           version.output.find("OpenRTE") != std::string::npos;
  if (!is_open_mpi && !is_prrte) return {};
  if (is_prrte) found.arguments = {"-n", "2", "--map-by", ":OVERSUBSCRIBE"};
  if (geteuid() == 0) found.arguments.emplace_back("--allow-run-as-root");
  return found;
}

/// Tries it by starting two ranks.
finding tried(const launcher& with, const std::string& self, bool has_device) {
  std::vector<std::string> command{with.file};
  command.insert(command.end(), with.arguments.begin(), with.arguments.end());
  command.insert(command.end(), {self, "--as-rank", has_device ? "adds" : "meets"});
  const auto ran = output_of(command, {"CHORALE_RANKS"}, 120s);
  const auto at = ran.output.find(said);
  if (ran.ended && ran.status == 0 && at != std::string::npos)
    return ok(subject, fmt::format("{} ({}): {}", with.file, with.name,
                                   first_line(ran.output.substr(at + std::string{said}.size()))));
  const std::string why = !ran.ended ? "it did not end within 120 s"
                                     : fmt::format("exit status {}: {}", ran.status, in_one_line(ran.output));
  return wrong(
      subject, fmt::format("{} ({}) could not run two ranks: {}", with.file, with.name, why),
      fmt::format("try `{} -n 2 hostname`; if that works, the text above says what is wrong; "
                  "else fix the launcher: its slots (--oversubscribe), its temporary folder (TMPDIR)",
                  with.file));
}

finding slurm(const std::string& file) {
  const auto listed = output_of({file, "--mpi=list"}, {}, 20s);
  const auto at = listed.output.find("pmix");
  if (at != std::string::npos)
    return ok(subject, fmt::format("{} has {}: `srun --mpi=pmix -n N PROGRAM`", file,
                                   first_line(listed.output.substr(at))));
  return wrong(subject, fmt::format("{} was built without PMIx", file),
               "install Slurm's PMIx plugin (`srun --mpi=list` must show pmix), or an Open MPI beside it");
}

}  // namespace

findings of_launcher(const report& r, const std::string& self) {
  for (const auto& f : r.features)
    if (f.name == "PMIx" && !f.present) return {wrong(subject, "this build has no PMIx", f.otherwise)};
  if (r.launch.pmix) {
    const char* version = std::getenv("PMIX_VERSION");
    return {
        ok(subject,
           fmt::format("{}{}", r.launch.explanation,
                       version == nullptr ? "" : fmt::format(", PMIx {}", chorale::printable(version, 32))))};
  }
  if (r.launch.launcher != "none")
    return {wrong(subject, r.launch.explanation, "start the job by one of these commands")};
  for (const char* name : {"mpirun.openmpi", "mpirun", "prterun"}) {
    const auto file = on_path(name);
    if (file.empty()) continue;
    const auto found = identified(file);
    if (!found.file.empty()) return {tried(found, self, r.choice.has_value())};
  }
  if (const auto file = on_path("srun"); !file.empty()) return {slurm(file)};
  const auto other = on_path("mpirun");
  return {wrong(subject,
                other.empty()
                    ? "neither mpirun, prterun nor srun is on PATH: only one rank can run"
                    : fmt::format("{} is neither Open MPI's nor PRRTE's, and serves no PMIx", other),
                remedy)};
}

int run_rank(bool adds) try {
  chorale::bootstrap::pmix group;
  if (group.size() < 2) throw std::runtime_error("each rank is alone: " + group.describe());
  const auto number = [](int rank) { return static_cast<std::byte>(rank + 1); };
  const std::byte mine = number(group.rank());
  const auto all = group.exchange({&mine, 1}, 60s);
  for (int rank = 0; rank < group.size(); ++rank)
    if (all.at(static_cast<std::size_t>(rank)) != std::vector<std::byte>{number(rank)})
      throw std::runtime_error(fmt::format("what rank {} has sent through the launcher is wrong", rank));
  std::string added;
  if (adds) {
    auto settings = chorale::config::from_environment();
    settings.deadline = 60s;
    chorale::communicator<> comm{settings};
    const int sum = comm.allreduce(comm.rank() + 1, chorale::sum);
    if (sum != comm.size() * (comm.size() + 1) / 2)
      throw std::runtime_error("the sum over the ranks is wrong");
    added = fmt::format(", and added up over {}", comm.transport().chosen().device.name);
  }
  if (group.rank() == 0) {
    const char* version = std::getenv("PMIX_VERSION");
    chorale::say(stdout, "{}{} ranks met through {}{}\n", said, group.size(),
                 version == nullptr ? "PMIx" : fmt::format("PMIx {}", version), added);
  }
  return 0;
} catch (const std::exception& e) {
  chorale::say(stdout, "{}\n", e.what());
  return 1;
}

}  // namespace info::check
