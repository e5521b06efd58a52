// SPDX-License-Identifier: Apache-2.0
// The routes in a torus.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <chorale/simulation/machine/network_costs.hpp>

#include "link.hpp"

namespace chorale::simulation {

/// Dimension by dimension, the shorter way around; upwards if both are equal.
class torus_routes {
 public:
  explicit torus_routes(const torus& shape);

  [[nodiscard]] std::uint32_t hosts() const noexcept { return switches_ * hosts_; }
  [[nodiscard]] std::uint32_t links() const noexcept {
    return 2 * hosts() + 2 * switches_ * static_cast<std::uint32_t>(extent_.size());
  }
  void append(host_number from, host_number to, std::uint32_t spread, route& links) const;
  [[nodiscard]] link_ends ends(link_number link) const;
  [[nodiscard]] link_kind kind(link_number link) const noexcept {
    return link < 2 * hosts() ? link_kind::host : link_kind::between_switches;
  }
  [[nodiscard]] std::string name(std::uint32_t number) const;

 private:
  /// The neighbour of a switch along a dimension in which neighbours differ by `stride` in number.
  [[nodiscard]] static std::uint32_t next(std::uint32_t at, std::uint32_t stride, std::uint32_t extent,
                                          bool upwards) noexcept;

  std::vector<std::uint32_t> extent_;
  std::uint32_t hosts_;
  std::uint32_t switches_ = 1;
};

}  // namespace chorale::simulation
