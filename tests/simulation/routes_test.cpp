// SPDX-License-Identifier: Apache-2.0
// The routes of each topology, against a breadth-first search of its links.
#include "simulation/network/routes.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace simulation = chorale::simulation;
using simulation::link_kind;
using simulation::link_number;
using simulation::vertex;

namespace {

using place = std::pair<bool, std::uint32_t>;

place place_of(const vertex& of) {
  return {of.is_host, of.number};
}

/// The fewest links from one host to each other, with at most `globals` between groups.
template <class Ways>
std::vector<std::size_t> fewest_links(const Ways& ways, simulation::host_number from, std::size_t globals) {
  std::map<place, std::vector<std::pair<place, bool>>> next;
  for (link_number link = 0; link < ways.links(); ++link) {
    const auto ends = ways.ends(link);
    next[place_of(ends.from)].push_back({place_of(ends.to), ways.kind(link) == link_kind::between_groups});
  }
  using state = std::pair<place, std::size_t>;
  std::map<state, std::size_t> distance{{{{true, from}, 0}, 0}};
  std::deque<state> front{{{true, from}, 0}};
  for (; !front.empty(); front.pop_front()) {
    const auto [at, used] = front.front();
    if (at.first && at.second != from) continue;  // hosts do not forward
    for (const auto& [to, is_global] : next[at])
      if (used + is_global <= globals && distance.count({to, used + is_global}) == 0) {
        distance[{to, used + is_global}] = distance[front.front()] + 1;
        front.push_back({to, used + is_global});
      }
  }
  std::vector<std::size_t> fewest(ways.hosts(), 0);
  for (const auto& [where, links] : distance)
    if (where.first.first && where.first.second != from) {
      auto& best = fewest[where.first.second];
      if (best == 0 || links < best) best = links;
    }
  return fewest;
}

template <class Ways>
void check_all_pairs(const Ways& ways, std::size_t globals = 1) {
  for (link_number link = 0; link < 2 * ways.hosts(); ++link) {
    const auto ends = ways.ends(link);
    REQUIRE(place_of(link % 2 == 0 ? ends.from : ends.to) == place{true, link / 2});
    REQUIRE(!(link % 2 == 0 ? ends.to : ends.from).is_host);
  }
  for (simulation::host_number from = 0; from < ways.hosts(); ++from) {
    const auto fewest = fewest_links(ways, from, globals);
    for (simulation::host_number to = 0; to < ways.hosts(); ++to) {
      if (from == to) continue;
      for (const std::uint32_t spread : {to, 0U, 7U}) {
        simulation::route links;
        ways.append(from, to, spread, links);
        INFO("from " << from << " to " << to << " by " << spread);
        place at{true, from};
        for (const auto link : links) {
          REQUIRE(link < ways.links());
          REQUIRE(place_of(ways.ends(link).from) == at);
          at = place_of(ways.ends(link).to);
        }
        REQUIRE(at == place{true, to});
        REQUIRE(links.size() == fewest[to]);
      }
    }
  }
}

}  // namespace

TEST_CASE("One switch: two links between any hosts", "[simulation]") {
  check_all_pairs(simulation::one_switch_routes{{5}});
}

TEST_CASE("Fat trees: shortest routes, with one to four levels", "[simulation]") {
  check_all_pairs(simulation::fat_tree_routes{{{6}, {}}});
  check_all_pairs(simulation::fat_tree_routes{{{4, 3}, {2}}});
  check_all_pairs(simulation::fat_tree_routes{{{3, 2, 4}, {3, 2}}});
  check_all_pairs(simulation::fat_tree_routes{{{2, 2, 3, 2}, {1, 3, 2}}});
}

TEST_CASE("Fat trees: the hosts of a leaf are reached over all its links evenly", "[simulation]") {
  const simulation::fat_tree_routes ways{{{8, 4}, {4}}};
  std::map<link_number, int> used;
  for (simulation::host_number to = 8; to < 16; ++to) {
    simulation::route links;
    ways.append(0, to, to, links);
    REQUIRE(links.size() == 4);
    ++used[links[1]];
  }
  REQUIRE(used.size() == 4);
  for (const auto& [link, times] : used) REQUIRE(times == 2);
}

TEST_CASE("Tori: shortest routes, in one to three dimensions", "[simulation]") {
  check_all_pairs(simulation::torus_routes{{{5}, 2}});
  check_all_pairs(simulation::torus_routes{{{4, 3}, 1}});
  check_all_pairs(simulation::torus_routes{{{2, 4, 3}, 2}});
  check_all_pairs(simulation::torus_routes{{{1, 3}, 1}});
}

TEST_CASE("Dragonflies: shortest routes with one link between groups", "[simulation]") {
  check_all_pairs(simulation::dragonfly_routes{{5, 4, 2, 1}});
  check_all_pairs(simulation::dragonfly_routes{{9, 4, 1, 2}});
  check_all_pairs(simulation::dragonfly_routes{{3, 4, 1, 2}});  // four links between any groups
  check_all_pairs(simulation::dragonfly_routes{{4, 3, 2, 2}});
  check_all_pairs(simulation::dragonfly_routes{{1, 3, 2, 1}}, 0);
}

TEST_CASE("Switches have unique names", "[simulation]") {
  const simulation::fat_tree_routes tree{{{2, 3, 2}, {2, 2}}};
  const simulation::torus_routes grid{{{2, 3}, 1}};
  const simulation::dragonfly_routes groups{{3, 2, 1, 1}};
  const auto names = [](const auto& ways) {
    std::set<std::uint32_t> switches;
    std::set<std::string> all;
    for (link_number link = 0; link < ways.links(); ++link)
      for (const auto& end : {ways.ends(link).from, ways.ends(link).to})
        if (!end.is_host && switches.insert(end.number).second) all.insert(ways.name(end.number));
    REQUIRE(switches.size() == all.size());
    return all;
  };
  REQUIRE(names(tree).size() == 6 + 4 + 4);
  REQUIRE(names(grid).count("switch (1, 2)") == 1);
  REQUIRE(names(groups).count("switch 1 of group 2") == 1);
}
