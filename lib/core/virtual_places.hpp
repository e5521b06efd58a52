// SPDX-License-Identifier: Apache-2.0
// Layouts of places that a user names, as by CHORALE_PLACES.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chorale::detail {

/// Places of one host, for tests and trials of layouts. `4x4`: four places of four consecutive ranks each;
/// `3,1,5`: three places of 3, 1 and 5 consecutive ranks; `4x4c`: four places of four ranks, assigned
/// cyclically.
struct virtual_places {
  static constexpr long long most_ranks = 1 << 24;
  std::vector<int> sizes;
  bool is_cyclic = false;

  /// Nothing if the text is not a layout, or is one of more than `most_ranks`.
  [[nodiscard]] static std::optional<virtual_places> read(std::string_view text);
  [[nodiscard]] int ranks() const noexcept;
  /// The number of the place of a rank below `ranks()`.
  [[nodiscard]] int of(int rank) const noexcept;
  /// The number, from 1, of the place of `rank` among `size` ranks in a layout as in `config::places`; 1 for
  /// all ranks if it is empty. @throws error errc::invalid_argument if the layout has another number of
  /// ranks.
  [[nodiscard]] static std::uint64_t number(const std::string& layout, int rank, int size);
};

}  // namespace chorale::detail
