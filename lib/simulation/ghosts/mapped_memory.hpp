// SPDX-License-Identifier: Apache-2.0
// Memory that the ranks of a host map, and which core has its cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include <chorale/simulation/time.hpp>

#include "shadow.hpp"

namespace chorale::simulation::ghosts {

/// Memory with contents, unlike a shadow: the words in it decide what algorithms do. It knows of each cache
/// line which core wrote it last, and whether others have read it since; it does not know which, so a core
/// that reads a line twice gets it twice.
class mapped_memory {
 public:
  /// A word through which ranks synchronise.
  struct word {
    instant free;               ///< when the core that added to it last lets others have its line
    instant visible;            ///< when a core that polls it sees the last store
    std::vector<int> watchers;  ///< ranks that wait for a store
  };

  /// The piece of that number: at first zeroes, `bytes` of them, which no other piece overlaps.
  [[nodiscard]] std::span<std::byte> make(std::uint32_t number, std::size_t bytes);
  /// The same; empty if it was not made.
  [[nodiscard]] std::span<std::byte> find(std::uint32_t number) const noexcept;
  /// Whether that byte is in a piece.
  [[nodiscard]] bool has(const void* one) const noexcept {
    return memory_.has(static_cast<const std::byte*>(one));
  }

  /// Rank `rank` reads these bytes. @returns how many of them are in lines that another core has written.
  /// Not counted: the line of `known`, which the rank has just read.
  std::uint64_t read(int rank, const void* from, std::uint64_t bytes, const void* known) noexcept;
  /// Rank `rank` writes these bytes. @returns how many are in lines that another core has.
  std::uint64_t write(int rank, const void* to, std::uint64_t bytes) noexcept;
  /// The word at that address.
  [[nodiscard]] word& at(const void* address) { return words_[address]; }

 private:
  /// A line that nobody has touched consists of zeroes.
  struct line {
    std::int32_t writer = 0;  ///< the rank that wrote it last, plus 1; 0: none
    bool is_shared = false;   ///< another rank has read it since
  };

  template <class Visit>
  std::uint64_t for_lines(const void* from, std::uint64_t bytes, const Visit& visit) noexcept;
  [[nodiscard]] std::size_t line_of(const void* one) const noexcept;

  shadow memory_;
  shadow lines_;
  std::size_t taken_ = 0;  ///< bytes of `memory_`
  std::unordered_map<std::uint32_t, std::span<std::byte>> pieces_;
  std::unordered_map<const void*, word> words_;
};

}  // namespace chorale::simulation::ghosts
