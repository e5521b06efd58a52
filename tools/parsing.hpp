// How the programs of this folder read their options.
#pragma once

#include <CLI/CLI.hpp>
#include <iostream>
#include <ostream>
#include <sstream>

#include <chorale/core/printable_text.hpp>

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
    std::ostringstream said;
    std::ostringstream wrong;
    const int status = app.exit(e, said, wrong) == 0 ? 0 : 2;
    out << chorale::detail::printable_text(said.str());
    problems << chorale::detail::printable_text(wrong.str());
    return status;
  }
}

}  // namespace parsing
