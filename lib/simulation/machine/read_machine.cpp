// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/simulation/machine/machine.hpp>

#include "../../core/files.hpp"
#include "../../core/printable.hpp"
#include "shipped.hpp"

namespace chorale::simulation {
namespace {

/// In bytes: more than a thousand times the size of a shipped file.
constexpr std::size_t largest_file = std::size_t{16} << 20;

std::string text_of(const std::string& file) {
  try {
    return detail::text_of_file(file, largest_file);
  } catch (const detail::file_refusal& refused) {
    throw error(
        errc::invalid_argument,
        fmt::format("machine '{}' is none that comes with the library ({}), and no file that can be read: "
                    "{} (docs/machines.md)",
                    printable(file), fmt::join(machine_names(), ", "), refused.what()));
  }
}

}  // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const auto& one : shipped_machines()) names.emplace_back(one.name);
  return names;
}

machine read_machine(const std::string& name) {
  for (const auto& one : shipped_machines())
    if (one.name == name) return parse_machine(one.text, name + ".json");
  return parse_machine(text_of(name), name);
}

}  // namespace chorale::simulation
