// SPDX-License-Identifier: Apache-2.0
// The test framework's command line, for programs with their own `main`.
#pragma once

namespace support {

/// Runs the tests that the arguments name; the exit status.
int run_tests(int argc, char** argv);

/// Runs one test case, even a hidden one, with output to the file `report`. Returns the exit status.
int run_test_case(const char* name, const char* report);

}  // namespace support
