// SPDX-License-Identifier: Apache-2.0
#include "anywhere.hpp"

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <stdexcept>

#include <chorale/bootstrap/in_process.hpp>

#include "simulated.hpp"

namespace support {

bool in_virtual_time() {
  static const bool is_asked_for = [] {
    const char* const device = std::getenv("CHORALE_TEST_DEVICE");
    if (device == nullptr || std::strcmp(device, "soft0") == 0) return false;
    if (std::strcmp(device, "sim0") == 0) return true;
    throw std::runtime_error(std::string{"CHORALE_TEST_DEVICE is "} + device +
                             "; ranks of one process run on soft0 or on sim0");
  }();
  return is_asked_for;
}

const char* test_device() {
  return in_virtual_time() ? "sim0" : "soft0";
}

bool left_out_in_virtual_time(const char* why) {
  if (!in_virtual_time()) return false;
  std::cout << "left out on sim0: " << why << std::endl;
  return true;
}

void run_anywhere(int size, action<any_group> body) {
  const auto run_one = [&](auto& group) {
    any_group mine{group};
    body(mine);
  };
  if (in_virtual_time())
    run_simulated(size, run_one);
  else
    chorale::bootstrap::run_in_process(size, run_one);
}

}  // namespace support
