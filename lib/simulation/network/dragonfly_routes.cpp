// SPDX-License-Identifier: Apache-2.0
#include "dragonfly_routes.hpp"

#include <fmt/format.h>

namespace chorale::simulation {

dragonfly_routes::dragonfly_routes(const dragonfly& shape)
    : groups_(static_cast<std::uint32_t>(shape.groups)),
      switches_(static_cast<std::uint32_t>(shape.switches)),
      hosts_(static_cast<std::uint32_t>(shape.hosts)),
      globals_(static_cast<std::uint32_t>(shape.globals)) {
  if (groups_ > 1) copies_ = switches_ * globals_ / (groups_ - 1);
  first_local_ = 2 * hosts();
  first_global_ = first_local_ + groups_ * switches_ * switches_;
}

void dragonfly_routes::append_local(std::uint32_t group, std::uint32_t from, std::uint32_t to,
                                    route& links) const {
  if (from != to) links.push_back(first_local_ + (group * switches_ + from) * switches_ + to);
}

void dragonfly_routes::append(host_number from, host_number to, std::uint32_t spread, route& links) const {
  const auto group = from / hosts_ / switches_;
  const auto start = from / hosts_ % switches_;
  const auto other = to / hosts_ / switches_;
  const auto goal = to / hosts_ % switches_;
  links.push_back(out_of(from));
  if (group == other) {
    append_local(group, start, goal, links);
  } else {
    const auto distance = (other + groups_ - group) % groups_;
    const auto leaving = [&](std::uint32_t copy) { return port(copy, distance); };
    const auto coming = [&](std::uint32_t copy) { return port(copy, groups_ - distance); };
    const auto detours = [&](std::uint32_t copy) {
      return (leaving(copy) / globals_ == start ? 0 : 1) + (coming(copy) / globals_ == goal ? 0 : 1);
    };
    // Searches the copies from one that `spread` chooses; takes the first of the shortest.
    auto best = spread % copies_;
    for (std::uint32_t i = 1; i < copies_; ++i)
      if (const auto copy = (spread + i) % copies_; detours(copy) < detours(best)) best = copy;
    append_local(group, start, leaving(best) / globals_, links);
    links.push_back(first_global_ + group * switches_ * globals_ + leaving(best));
    append_local(other, coming(best) / globals_, goal, links);
  }
  links.push_back(into(to));
}

link_ends dragonfly_routes::ends(link_number link) const {
  if (link < first_local_) {
    const vertex host{true, link / 2};
    const vertex home{false, link / 2 / hosts_};
    return link % 2 == 0 ? link_ends{host, home} : link_ends{home, host};
  }
  if (link < first_global_) {
    const auto pair = link - first_local_;
    const auto from = pair / switches_;
    return {{false, from}, {false, from / switches_ * switches_ + pair % switches_}};
  }
  const auto ports = switches_ * globals_;
  const auto group = (link - first_global_) / ports;
  const auto own = (link - first_global_) % ports;
  const vertex from{false, group * switches_ + own / globals_};
  const auto copy = groups_ > 1 ? own / (groups_ - 1) : 0;
  if (copy >= copies_) return {from, from};  // an unused port
  const auto distance = own % (groups_ - 1) + 1;
  const auto other = (group + distance) % groups_;
  return {from, {false, other * switches_ + port(copy, groups_ - distance) / globals_}};
}

std::string dragonfly_routes::name(std::uint32_t number) const {
  return fmt::format("switch {} of group {}", number % switches_, number / switches_);
}

}  // namespace chorale::simulation
