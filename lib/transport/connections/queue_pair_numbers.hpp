// SPDX-License-Identifier: Apache-2.0
// Which connection a queue pair belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <chorale/transport/connections/connections.hpp>

namespace chorale::transport {

struct connections::numbers {
  using map = std::unordered_map<std::uint32_t, connection*>;
  map of_lane;
  map of_near;  ///< numbers of two devices may be equal
  [[nodiscard]] map& of(const lane& by, const connections& all) noexcept {
    return &by == &all.lane_ ? of_lane : of_near;
  }
  std::size_t rounds = 0;  ///< rounds of waits, which include checks for farewells
};

}  // namespace chorale::transport
