// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include "runner.hpp"

#include <catch2/catch.hpp>

namespace support {

int run_tests(int argc, char** argv) {
  return Catch::Session().run(argc, argv);
}

int run_test_case(const char* name, const char* report) {
  Catch::Session session;
  session.configData().outputFilename = report;
  session.configData().testsOrTags = {name};
  return session.run();
}

}  // namespace support
