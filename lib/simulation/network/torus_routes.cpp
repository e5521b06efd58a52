// SPDX-License-Identifier: Apache-2.0
#include "torus_routes.hpp"

#include <cstddef>

#include <fmt/format.h>

namespace chorale::simulation {

torus_routes::torus_routes(const torus& shape) : hosts_(static_cast<std::uint32_t>(shape.hosts)) {
  for (const int extent : shape.extent) {
    extent_.push_back(static_cast<std::uint32_t>(extent));
    switches_ *= extent_.back();
  }
}

std::uint32_t torus_routes::next(std::uint32_t at, std::uint32_t stride, std::uint32_t extent,
                                 bool upwards) noexcept {
  const auto place = at / stride % extent;
  const auto beside = upwards ? (place + 1) % extent : (place + extent - 1) % extent;
  return at - place * stride + beside * stride;
}

void torus_routes::append(host_number from, host_number to, std::uint32_t, route& links) const {
  links.push_back(out_of(from));
  auto at = from / hosts_;
  const auto goal = to / hosts_;
  const auto dimensions = static_cast<std::uint32_t>(extent_.size());
  std::uint32_t stride = 1;
  for (std::uint32_t d = 0; d < dimensions; ++d) {
    const auto extent = extent_[d];
    const auto ahead = (goal / stride % extent + extent - at / stride % extent) % extent;
    const bool upwards = 2 * ahead <= extent;
    for (auto steps = upwards ? ahead : extent - ahead; steps > 0; --steps) {
      links.push_back(2 * hosts() + 2 * (at * dimensions + d) + (upwards ? 0 : 1));
      at = next(at, stride, extent, upwards);
    }
    stride *= extent;
  }
  links.push_back(into(to));
}

link_ends torus_routes::ends(link_number link) const {
  if (link < 2 * hosts()) {
    const vertex host{true, link / 2};
    const vertex home{false, link / 2 / hosts_};
    return link % 2 == 0 ? link_ends{host, home} : link_ends{home, host};
  }
  const auto dimensions = static_cast<std::uint32_t>(extent_.size());
  const auto place = (link - 2 * hosts()) / 2;
  std::uint32_t stride = 1;
  for (std::uint32_t d = 0; d < place % dimensions; ++d) stride *= extent_[d];
  const auto from = place / dimensions;
  return {{false, from}, {false, next(from, stride, extent_[place % dimensions], link % 2 == 0)}};
}

std::string torus_routes::name(std::uint32_t number) const {
  std::string text = "switch (";
  for (const auto extent : extent_) {
    text += fmt::format("{}{}", text.back() == '(' ? "" : ", ", number % extent);
    number /= extent;
  }
  return text + ")";
}

}  // namespace chorale::simulation
