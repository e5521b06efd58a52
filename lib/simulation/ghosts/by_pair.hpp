// SPDX-License-Identifier: Apache-2.0
// A hash table keyed by pairs of ranks: millions of entries, but a small part of all pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../large_pages.hpp"
#include "steady.hpp"

namespace chorale::simulation::ghosts {

/// A `T` for each pair of ranks that was looked up; its address is stable. A look-up usually touches one
/// cache line, where std::unordered_map touches three.
template <class T>
class by_pair {
 public:
  /// The element of the ranks `low` and `high`, and whether it is new.
  std::pair<T*, bool> find(std::uint32_t low, std::uint32_t high) {
    const std::uint64_t key = std::uint64_t{low} << 32 | high;
    if (2 * (all_.size() + 1) > places_.size()) grow();
    place& found = place_of(key);
    const bool is_new = found.what == nullptr;
    if (is_new) found = {key, &all_.add()};
    return {found.what, is_new};
  }

 private:
  struct place {
    std::uint64_t key = 0;
    T* what = nullptr;  ///< null: the entry is free
  };
  using places = std::vector<place, in_large_pages<place>>;

  /// The entry that holds the key, or the free one for it.
  place& place_of(std::uint64_t key) noexcept {
    const std::size_t mask = places_.size() - 1;
    // The upper bits of the product depend on the whole key, the lower ones only on the difference of the
    // ranks, which many pairs share.
    const std::uint64_t mixed = (key ^ key >> 32) * 0x9e3779b97f4a7c15U;
    std::size_t at = static_cast<std::size_t>(mixed >> 40) & mask;
    while (places_[at].what != nullptr && places_[at].key != key) at = (at + 1) & mask;
    return places_[at];
  }
  void grow() {
    places before(places_.empty() ? 64 : 2 * places_.size());
    before.swap(places_);
    for (const place& one : before)
      if (one.what != nullptr) place_of(one.key) = one;
  }

  places places_;  ///< their number is a power of two, at least half of them are free
  steady<T> all_;
};

}  // namespace chorale::simulation::ghosts
