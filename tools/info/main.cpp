// SPDX-License-Identifier: Apache-2.0
// chorale-info: the devices that Chorale finds on this machine, its choice, and the reason.
#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"
#include "../parsing.hpp"
#include "check/checks.hpp"
#include "report.hpp"

namespace {

/// The file of this program; the name of its call if /proc is not available.
std::string own_file() {
  std::error_code failure;
  const auto file = std::filesystem::read_symlink("/proc/self/exe", failure);
  return failure ? std::string{"chorale-info"} : file.string();
}

/// Exit status: 0 if nothing is wrong.
int check(const info::report& report, bool json) {
  info::check::findings all;
  const bool well = info::check::run(report, own_file(), [&](const auto& finding) {
    all.push_back(finding);
    if (!json) info::check::print(finding);
  });
  if (json)
    chorale::say(stdout, "{}\n", info::check::to_json(all));
  else
    chorale::say(stdout, "{}\n",
                 well ? "A job can start here." : "A job would fail here: fix what is WRONG, from the top.");
  return well ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Shows devices, launcher, choice and settings of Chorale. Needs no launcher.\n"
      "With --check it tries what the first job will need, and says how to fix what is wrong.\n"
      "Exit status: 0; 1 if a communicator would find nothing to use, or a check finds something wrong; 2 "
      "for a\n"
      "mistake in the options.",
      "chorale-info"};
  bool json = false;
  app.add_flag("--json", json, "As JSON");
  bool checks = false;
  app.add_flag(
      "--check", checks,
      "Try devices, limits, connections, datagrams, multicast and a launcher, which starts two ranks of "
      "this program");
  std::string as_rank;
  app.add_option("--as-rank", as_rank)->group("");  // used by --check
  app.set_version_flag("--version", CHORALE_TOOLS_VERSION);
  if (const int status = parsing::parse(app, argc, argv); status >= 0) return status;
  try {
    if (!as_rank.empty()) return info::check::run_rank(as_rank == "adds");
    const auto report = info::gather();
    if (checks) return check(report, json);
    if (json)
      chorale::say(stdout, "{}\n", info::to_json(report));
    else
      info::print_text(report);
    return report.choice ? 0 : 1;
  } catch (const std::exception& e) {
    chorale::say(stderr, "chorale-info: {}\n", e.what());
    return 1;
  }
}
