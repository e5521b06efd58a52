// SPDX-License-Identifier: Apache-2.0
// The route through a single switch.
#pragma once

#include <cstdint>
#include <string>

#include <chorale/simulation/machine/topology.hpp>

#include "link.hpp"

namespace chorale::simulation {

class one_switch_routes {
 public:
  explicit one_switch_routes(const one_switch& shape) : ports_(static_cast<std::uint32_t>(shape.ports)) {}

  [[nodiscard]] std::uint32_t hosts() const noexcept { return ports_; }
  [[nodiscard]] std::uint32_t links() const noexcept { return 2 * ports_; }
  void append(host_number from, host_number to, std::uint32_t, route& links) const {
    links.push_back(out_of(from));
    links.push_back(into(to));
  }
  [[nodiscard]] link_ends ends(link_number link) const {
    const vertex host{true, link / 2};
    return link % 2 == 0 ? link_ends{host, {}} : link_ends{{}, host};
  }
  [[nodiscard]] link_kind kind(link_number) const noexcept { return link_kind::host; }
  [[nodiscard]] std::string name(std::uint32_t) const { return "the switch"; }

 private:
  std::uint32_t ports_;
};

}  // namespace chorale::simulation
