// The machine files that come with the library, as texts within it.
#pragma once

#include <span>
#include <string_view>

namespace chorale::simulation {

struct shipped_machine {
  std::string_view name;
  std::string_view text;
};

/// In the order of their names.
[[nodiscard]] std::span<const shipped_machine> shipped_machines() noexcept;

}  // namespace chorale::simulation
