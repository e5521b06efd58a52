// SPDX-License-Identifier: Apache-2.0
// An adapter of a simulated host: its identity, and the objects that programs have created on it.
#pragma once

#include <cstdint>

#include "../../verbs/device_profile.hpp"
#include "limits.hpp"
#include "numbered.hpp"
#include "objects.hpp"
#include "regions.hpp"

namespace chorale::simulation::device {

class fabric;
struct queue_pair;

/// One device with one port, whose GID table has `gid()` in row 0.
class hca {
 public:
  /// `host` is from 0.
  hca(fabric& owner, int host) noexcept;
  hca(const hca&) = delete;
  hca& operator=(const hca&) = delete;

  [[nodiscard]] fabric& owner() const noexcept { return *owner_; }
  [[nodiscard]] int host() const noexcept { return host_; }
  [[nodiscard]] std::uint16_t lid() const noexcept {
    return static_cast<std::uint16_t>(static_cast<int>(first_lid) + host_);
  }
  [[nodiscard]] ibv_gid gid() const noexcept;
  /// The entry in the list of devices.
  [[nodiscard]] ibv_device& device() noexcept { return device_.shown; }
  /// The adapter of an entry of that list.
  static hca& of(ibv_device& shown) noexcept { return *reinterpret_cast<listed&>(shown).self; }

  numbered<queue_pair> queue_pairs{first_queue_pair, multicast_queue_pair};
  numbered<completion_queue> completion_queues{1, ~std::uint32_t{0}};
  region_table regions;
  std::uint32_t qkey_violations = 0;
  bool failed = false;  ///< the adapter no longer works
  verbs::placement_order disorder =
      verbs::placement_order::ordered;  ///< chosen by a fault, whatever the profile says

 private:
  struct listed : verbs::listed_device {
    listed() noexcept : listed_device("sim0") {}
    hca* self = nullptr;
  };

  fabric* owner_;
  int host_;
  listed device_;
};

}  // namespace chorale::simulation::device
