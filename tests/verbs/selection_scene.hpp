// SPDX-License-Identifier: Apache-2.0
// Machines whose devices choose() chooses from.
#pragma once

#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/verbs/selection.hpp>

#include "fake_driver.hpp"
#include "support.hpp"

namespace fake {

/// Real devices as given, and one software device: an InfiniBand port with an MTU of 4096.
struct selection_scene {
  explicit selection_scene(std::vector<device> devices) {
    real() = {.devices = std::move(devices)};
    software() = {.devices = {infiniband("soft0")}};
  }
  ~selection_scene() {
    CHECK(real().total() == 0);
    CHECK(software().total() == 0);
  }
  [[nodiscard]] chorale::verbs::device_choice pick(const chorale::config& settings = {}) const {
    return chorale::verbs::choose(settings, drivers);
  }
  [[nodiscard]] chorale::error refusal(const chorale::config& settings) const {
    return test::error_of([&] { static_cast<void>(pick(settings)); });
  }

  std::vector<const chorale::verbs::driver*> drivers{&real_driver(), &software_driver()};
};

inline device down(device d, ibv_port_state state = IBV_PORT_DOWN) {
  for (auto& p : d.ports) p.state = state;
  return d;
}

}  // namespace fake
