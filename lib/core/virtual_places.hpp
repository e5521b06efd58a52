// SPDX-License-Identifier: Apache-2.0
// Layouts that a user names, as CHORALE_PLACES does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chorale::detail {

/// Places of one host, for tests and trials of layouts: `4x4` are four places of four ranks, `3,1,5` three of
/// so many, ranks in turn; in `4x4c` the ranks take turns among the places.
struct virtual_places {
  static constexpr long long most_ranks = 1 << 24;
  std::vector<int> sizes;
  bool is_cyclic = false;

  /// Nothing if the text is no layout, or one of more than `most_ranks`.
  [[nodiscard]] static std::optional<virtual_places> read(std::string_view text);
  [[nodiscard]] int ranks() const noexcept;
  /// The number of the place of a rank below `ranks()`.
  [[nodiscard]] int of(int rank) const noexcept;
  /// The place of `rank` of `size` in a layout as `config::places`, from 1; 1 for all ranks if it is empty.
  /// @throws error errc::invalid_argument if the layout has another number of ranks.
  [[nodiscard]] static std::uint64_t number(const std::string& layout, int rank, int size);
};

}  // namespace chorale::detail
