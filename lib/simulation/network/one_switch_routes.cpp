#include "one_switch_routes.hpp"

namespace chorale::simulation {

void one_switch_routes::append(host_number from, host_number to, std::uint32_t, route& links) const {
  links.push_back(out_of(from));
  links.push_back(into(to));
}

link_ends one_switch_routes::ends(link_number link) const {
  const vertex host{true, link / 2};
  return link % 2 == 0 ? link_ends{host, {}} : link_ends{{}, host};
}

}  // namespace chorale::simulation
