// SPDX-License-Identifier: Apache-2.0
// Runs a function concurrently with the test: in a thread, or in a fiber if the device is simulated.
#pragma once

#include <functional>
#include <memory>

namespace conformance {

/// Runs a function from construction on; the destructor joins it at the latest.
class beside {
 public:
  explicit beside(std::function<void()> body);
  ~beside();
  beside(const beside&) = delete;
  beside& operator=(const beside&) = delete;
  void join();

 private:
  struct flow;
  std::unique_ptr<flow> flow_;
};

/// Runs `body` as a fiber of a simulation of one host if the device is simulated; else directly.
void run_on_device(const std::function<void()>& body);

}  // namespace conformance
