// SPDX-License-Identifier: Apache-2.0
#include "runner.hpp"

int main(int argc, char** argv) {
  return support::run_tests(argc, argv);
}
