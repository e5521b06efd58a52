// Something that goes on beside the test: a thread, or a fiber where the device is simulated.
#pragma once

#include <functional>
#include <memory>

namespace conformance {

/// Runs a function from now on. It is joined at the latest when this goes out of scope.
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

/// Runs `body` as a fiber of a simulation of one host, where the device is simulated; else as it is.
void run_on_device(const std::function<void()>& body);

}  // namespace conformance
