// Variables of the environment that a test sets.
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <utility>

namespace soft_test {

/// The environment of the devices that are opened while it lives.
class variables {
 public:
  explicit variables(std::map<std::string, std::string> all) : all_(std::move(all)) {
    for (const auto& [name, value] : all_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~variables() {
    for (const auto& [name, value] : all_) unsetenv(name.c_str());
  }
  variables(const variables&) = delete;
  variables& operator=(const variables&) = delete;

 private:
  std::map<std::string, std::string> all_;
};

}  // namespace soft_test
