// SPDX-License-Identifier: Apache-2.0
#include "fat_tree_routes.hpp"

#include <cstddef>

#include <fmt/format.h>

namespace chorale::simulation {

fat_tree_routes::fat_tree_routes(const fat_tree& shape) {
  std::uint32_t hosts = 1;
  for (const int down : shape.down) hosts *= static_cast<std::uint32_t>(down);
  links_ = 2 * hosts;
  std::uint32_t span = 1;
  std::uint32_t lanes = 1;
  std::uint32_t switches = 0;
  for (std::size_t at = 0; at < shape.down.size(); ++at) {
    const auto down = static_cast<std::uint32_t>(shape.down[at]);
    const auto up = at < shape.up.size() ? static_cast<std::uint32_t>(shape.up[at]) : 0;
    span *= down;
    levels_.push_back({down, up, span, lanes, switches, links_});
    switches += hosts / span * lanes;
    links_ += 2 * (hosts / span) * lanes * up;
    lanes *= up;
  }
}

void fat_tree_routes::append(host_number from, host_number to, std::uint32_t spread, route& links) const {
  links.push_back(out_of(from));
  std::uint32_t at = 0;
  std::uint32_t lane = 0;
  for (; from / levels_[at].span != to / levels_[at].span; ++at) {
    const auto& here = levels_[at];
    const auto parent = spread / here.lanes % here.up;
    links.push_back(upward(at, from / here.span, lane, parent));
    lane += parent * here.lanes;
  }
  while (at-- > 0) {
    const auto& below = levels_[at];
    links.push_back(upward(at, to / below.span, lane % below.lanes, lane / below.lanes) + 1);
    lane %= below.lanes;
  }
  links.push_back(into(to));
}

link_ends fat_tree_routes::ends(link_number link) const {
  vertex lower{true, link / 2};
  vertex upper{false, link / 2 / levels_[0].span};
  if (link >= 2 * hosts()) {
    std::size_t at = 0;
    while (link >= levels_[at + 1].first_link && levels_[at + 1].up > 0) ++at;
    const auto& here = levels_[at];
    const auto& above = levels_[at + 1];
    const auto child = (link - here.first_link) / 2 / here.up;
    const auto parent = (link - here.first_link) / 2 % here.up;
    const auto subtree = child / here.lanes;
    const auto lane = child % here.lanes + parent * here.lanes;
    lower = {false, here.first_switch + child};
    upper = {false, above.first_switch + subtree / above.down * above.lanes + lane};
  }
  return link % 2 == 0 ? link_ends{lower, upper} : link_ends{upper, lower};
}

std::string fat_tree_routes::name(std::uint32_t number) const {
  std::size_t at = levels_.size() - 1;
  while (number < levels_[at].first_switch) --at;
  return fmt::format("switch {} of level {}", number - levels_[at].first_switch, at + 1);
}

}  // namespace chorale::simulation
