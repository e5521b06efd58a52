// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <chorale/calls/scan.hpp>
#include <chorale/core/error.hpp>

namespace chorale::calls {

std::size_t repeated_bytes(std::size_t one, std::size_t bytes) noexcept {
  // Combined at once, so that the operator is not called through a pointer for every element.
  constexpr std::size_t stretch = 1024;
  return one == 0 ? 0 : std::min(bytes, std::max(one, stretch / one * one));
}

void repeat(std::span<const std::byte> one, std::span<std::byte> room) noexcept {
  for (std::size_t at = 0; at < room.size(); at += one.size())
    std::copy(one.begin(), one.end(), room.begin() + static_cast<std::ptrdiff_t>(at));
}

void reject_initial(std::size_t given, std::size_t one) {
  throw error(errc::invalid_argument, "exscan: the initial value is one element of " + std::to_string(one) +
                                          " bytes, and " + std::to_string(given) + " bytes were given");
}

}  // namespace chorale::calls
