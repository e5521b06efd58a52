// Memory whose contents do not matter, which all ranks share.
#pragma once

#include <cstddef>
#include <span>

namespace chorale::simulation::ghosts {

/// As much as anybody asks for, at one address: what one rank leaves there another finds. Only what is
/// touched is memory.
class shadow {
 public:
  /// @throws error with the errno of mmap.
  shadow();
  ~shadow();
  shadow(const shadow&) = delete;
  shadow& operator=(const shadow&) = delete;

  /// @throws error errc::invalid_argument beyond 1 TiB.
  [[nodiscard]] std::span<std::byte> bytes(std::size_t count);
  /// Part number `index` of the `parts` in which nothing overlaps.
  /// @throws error errc::invalid_argument beyond 128 GiB, or if there are not so many parts.
  [[nodiscard]] std::span<std::byte> part(int index, std::size_t count);

  static constexpr int parts = 8;

 private:
  std::byte* begin_;
};

}  // namespace chorale::simulation::ghosts
