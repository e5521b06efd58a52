// SPDX-License-Identifier: Apache-2.0
// Parsing of options, common to the programs of this folder.
#pragma once

#include <CLI/CLI.hpp>
#include <iostream>
#include <ostream>
#include <sstream>

#include <chorale/core/printable_text.hpp>

namespace parsing {

/// Reads the options; prints help and version to `out`, and errors to `problems`.
/// @returns the exit status if the program must end now, 2 for an error; else -1.
inline int parse(CLI::App& app, int argc, const char* const* argv, std::ostream& out = std::cout,
                 std::ostream& problems = std::cerr) {
  try {
    app.parse(argc, argv);
    return -1;
  } catch (const CLI::ParseError& e) {
    // The library numbers its errors from 100; here all have status 2.
    std::ostringstream said;
    std::ostringstream wrong;
    const int status = app.exit(e, said, wrong) == 0 ? 0 : 2;
    out << chorale::detail::printable_text(said.str());
    problems << chorale::detail::printable_text(wrong.str());
    return status;
  }
}

}  // namespace parsing
