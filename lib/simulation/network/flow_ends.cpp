// SPDX-License-Identifier: Apache-2.0
#include "flow_ends.hpp"

#include <algorithm>
#include <bit>

namespace chorale::simulation {

flow_ends::place& flow_ends::place_of(std::uint64_t key) noexcept {
  const std::size_t mask = places_.size() - 1;
  const std::uint64_t mixed = (key ^ key >> 32) * 0x9e3779b97f4a7c15U;
  std::size_t at = static_cast<std::size_t>(mixed >> 40) & mask;
  while (places_[at].key != none && places_[at].key != key) at = (at + 1) & mask;
  return places_[at];
}

instant& flow_ends::of(host_number from, host_number to) {
  if (2 * (taken_ + 1) > places_.size()) move_to(std::max(2 * least, 2 * places_.size()));
  const std::uint64_t key = std::uint64_t{from} << 32 | to;
  auto& found = place_of(key);
  if (found.key == none) {
    found.key = key;
    ++taken_;
  }
  return found.end;
}

void flow_ends::forget_over(instant now) {
  for (auto& one : places_) {
    if (one.key == none || one.end > now) continue;
    one.key = none;
    --taken_;
  }
  kept_ = std::max(least, 2 * taken_);
  move_to(std::bit_ceil(2 * (kept_ + 1)));
}

void flow_ends::move_to(std::size_t places) {
  std::vector<place> before(places);
  before.swap(places_);
  for (const auto& one : before)
    if (one.key != none) place_of(one.key) = one;
}

}  // namespace chorale::simulation
