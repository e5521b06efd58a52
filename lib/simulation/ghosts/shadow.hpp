// SPDX-License-Identifier: Apache-2.0
// Memory that all ranks share, since its contents do not matter.
#pragma once

#include <cstddef>
#include <span>

namespace chorale::simulation::ghosts {

/// A range of up to any requested size at one address: ranks overwrite each other's data. Only touched pages
/// take memory.
class shadow {
 public:
  /// @throws error with the errno of mmap.
  shadow();
  ~shadow();
  shadow(const shadow&) = delete;
  shadow& operator=(const shadow&) = delete;

  /// @throws error errc::invalid_argument for sizes beyond 1 TiB.
  [[nodiscard]] std::span<std::byte> bytes(std::size_t count);
  /// Part number `index` of the `parts`, which do not overlap.
  /// @throws error errc::invalid_argument beyond 128 GiB, or if there is no such part.
  [[nodiscard]] std::span<std::byte> part(int index, std::size_t count);

  [[nodiscard]] std::byte* begin() const noexcept { return begin_; }
  /// Whether that byte is in it.
  [[nodiscard]] bool has(const std::byte* one) const noexcept;

  static constexpr int parts = 8;

 private:
  std::byte* begin_;
};

}  // namespace chorale::simulation::ghosts
