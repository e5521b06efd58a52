// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <chorale/core/config.hpp>

#include "../../lib/core/printable.hpp"
#include "report.hpp"

namespace info {

std::vector<setting> gather_settings() {
  std::vector<setting> all;
  for (const auto& variable : chorale::environment_variables()) {
    const std::string name{variable.name};
    const char* set = std::getenv(name.c_str());
    // Reports are sent to others.
    if (set != nullptr && name.ends_with("_SECRET")) set = "(not shown)";
    all.push_back({name, set != nullptr ? chorale::printable(set) : std::string{variable.initially},
                   set != nullptr, std::string{variable.accepts}, std::string{variable.meaning}});
  }
  return all;
}

std::vector<stray> gather_strays() {
  std::vector<stray> all;
  for (const auto& name : chorale::unknown_environment_variables())
    all.push_back({chorale::printable(name), std::string{chorale::nearest_environment_variable(name)}});
  return all;
}

}  // namespace info
