// The test framework's command line, for programs with a `main` of their own.
#pragma once

namespace support {

/// Runs the tests that the arguments name; the exit status.
int run_tests(int argc, char** argv);

/// Runs one test case, a hidden one too; what it says goes to the file `report`. The exit status.
int run_test_case(const char* name, const char* report);

}  // namespace support
