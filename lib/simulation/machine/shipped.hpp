// SPDX-License-Identifier: Apache-2.0
// The machine files shipped with the library, embedded as texts.
#pragma once

#include <span>
#include <string_view>

namespace chorale::simulation {

struct shipped_machine {
  std::string_view name;
  std::string_view text;
};

/// In alphabetical order.
[[nodiscard]] std::span<const shipped_machine> shipped_machines() noexcept;

}  // namespace chorale::simulation
