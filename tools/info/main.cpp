// chorale-info: what Chorale sees on this machine, what it would use, and why.
#include <CLI/CLI.hpp>
#include <exception>

#include <fmt/format.h>

#include "report.hpp"

int main(int argc, char** argv) {
  CLI::App app{
      "Shows devices, launcher, choice and settings of Chorale. Needs no launcher.\n"
      "Exit status: 0; 1 if a communicator would find nothing to use; 2 for a mistake in the options.",
      "chorale-info"};
  bool json = false;
  app.add_flag("--json", json, "As JSON");
  app.set_version_flag("--version", CHORALE_TOOLS_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  try {
    const auto report = info::gather();
    if (json)
      fmt::print("{}\n", info::to_json(report));
    else
      info::print_text(report);
    return report.choice ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "chorale-info: {}\n", e.what());
    return 1;
  }
}
