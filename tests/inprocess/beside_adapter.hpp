// SPDX-License-Identifier: Apache-2.0
// Ranks that have an adapter beside soft0, in places.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/chorale.hpp>

#include "adapter.hpp"
#include "ranks.hpp"

namespace inprocess {

inline chorale::config with_places(const std::string& places) {
  auto c = settings();
  c.device = adapter::name;
  c.places = places;
  return c;
}

/// Runs `body(comm)` on ranks that have an adapter beside soft0, like `run_ranks`.
template <class Comm = chorale::communicator<>, class Body>
void run_beside_adapter(int size, const chorale::config& c, const Body& body) {
  std::vector<std::optional<chorale::error>> failed(static_cast<std::size_t>(size));
  run_anywhere(size, [&](auto& group) {
    const adapter::present both;
    failed[static_cast<std::size_t>(group.rank())] = support::error_of([&] {
      Comm comm{group, c};
      body(comm);
    });
  });
  for (const auto& one : failed) {
    INFO(size << " ranks, places " << c.places << ", seed " << seed() << ": " << (one ? one->what() : ""));
    CHECK_FALSE(one);
  }
}

/// The device port to the ranks of the same place, or null.
template <class Comm>
const chorale::transport::device_port* near_port(Comm& comm) {
  return comm.transport().core().near_port();
}

}  // namespace inprocess
