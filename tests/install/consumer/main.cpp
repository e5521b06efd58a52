// SPDX-License-Identifier: Apache-2.0
// A program outside the tree that uses the installed headers and library, and nothing else.
#include <cstdio>

#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>

int main() {
  const auto settings = chorale::config::from_environment();
  settings.validate();

  auto refused = settings;
  refused.mtu = 1000;
  try {
    refused.validate();
  } catch (const chorale::error& e) {
    std::printf("%s\n", e.what());
    return e.code() == chorale::errc::invalid_argument ? 0 : 1;
  }
  std::puts("config::validate() accepted an MTU of 1000");
  return 1;
}
