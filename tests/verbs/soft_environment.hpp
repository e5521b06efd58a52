// SPDX-License-Identifier: Apache-2.0
// Environment variables that a test sets.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace soft_test {

/// Sets environment variables for the devices opened during its lifetime, and restores them.
class variables {
 public:
  explicit variables(const std::map<std::string, std::string>& all) {
    for (const auto& [name, value] : all) {
      if (const char* const before = getenv(name.c_str()))
        before_[name] = before;
      else
        before_[name] = std::nullopt;
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~variables() {
    for (const auto& [name, value] : before_) {
      if (value)
        setenv(name.c_str(), value->c_str(), 1);
      else
        unsetenv(name.c_str());
    }
  }
  variables(const variables&) = delete;
  variables& operator=(const variables&) = delete;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace soft_test
