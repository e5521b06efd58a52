// How the programs of this folder read their options.
#pragma once

#include <CLI/CLI.hpp>
#include <iostream>
#include <ostream>

namespace parsing {

/// Reads the options; what is to be said of them goes to `out` (help, version) or `problems` (mistakes).
/// @returns the exit status if the program is to end now, 2 for a mistake; else -1.
inline int parse(CLI::App& app, int argc, const char* const* argv, std::ostream& out = std::cout,
                 std::ostream& problems = std::cerr) {
  try {
    app.parse(argc, argv);
    return -1;
  } catch (const CLI::ParseError& e) {
    // The library numbers its mistakes from 100; here 2 stands for all of them.
    return app.exit(e, out, problems) == 0 ? 0 : 2;
  }
}

}  // namespace parsing
