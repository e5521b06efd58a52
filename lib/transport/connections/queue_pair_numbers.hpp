// SPDX-License-Identifier: Apache-2.0
// Which connection a queue pair belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <chorale/transport/connections/connections.hpp>

namespace chorale::transport {

struct connections::numbers {
  std::unordered_map<std::uint32_t, connection*> all;
  std::size_t rounds = 0;  ///< rounds of waits, which include checks for farewells
};

}  // namespace chorale::transport
