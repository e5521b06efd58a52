// SPDX-License-Identifier: Apache-2.0
// Parsing of options, common to the programs of this folder.
#pragma once

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <ostream>
#include <sstream>

#include <chorale/core/printable_text.hpp>

namespace parsing {

/// At the end of a program: if its output could not be written, for example because the disk is full, it ends
/// with status 1.
inline void check_output() {
  const bool has_failed = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !has_failed) return;
  std::cerr << chorale::detail::printable_text(program_invocation_short_name)
            << ": standard output cannot be written, and is incomplete: is its disk full?\n";
  std::_Exit(1);
}

/// Reads the options; prints help and version to `out`, and errors to `problems`.
/// Arranges that the program fails if its output cannot be written.
/// @returns the exit status if the program must end now, 2 for an error; else -1.
inline int parse(CLI::App& app, int argc, const char* const* argv, std::ostream& out = std::cout,
                 std::ostream& problems = std::cerr) {
  std::atexit(check_output);
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
