// An adapter of a simulated host: its identity, and what programs have made on it.
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

/// One device with one port, whose row 0 of the table of GIDs is `gid()`.
class hca {
 public:
  /// `host` from 0.
  hca(fabric& owner, int host) noexcept;
  hca(const hca&) = delete;
  hca& operator=(const hca&) = delete;

  [[nodiscard]] fabric& owner() const noexcept { return *owner_; }
  [[nodiscard]] int host() const noexcept { return host_; }
  [[nodiscard]] std::uint16_t lid() const noexcept {
    return static_cast<std::uint16_t>(static_cast<int>(first_lid) + host_);
  }
  [[nodiscard]] ibv_gid gid() const noexcept;
  /// What the list of devices shows.
  [[nodiscard]] ibv_device& device() noexcept { return device_.shown; }
  /// The adapter of an entry of that list.
  static hca& of(ibv_device& shown) noexcept { return *reinterpret_cast<listed&>(shown).self; }

  numbered<queue_pair> queue_pairs{first_queue_pair, multicast_queue_pair};
  numbered<completion_queue> completion_queues{1, ~std::uint32_t{0}};
  region_table regions;
  std::uint32_t qkey_violations = 0;
  bool failed = false;  ///< nothing works any more
  verbs::placement_order disorder =
      verbs::placement_order::ordered;  ///< by chance, whatever the profile says

 private:
  /// Providers of real hardware look behind the ibv_device for their own mark before they touch a device.
  struct listed {
    ibv_device shown{};
    void* no_provider[64]{};
    hca* self = nullptr;
  };

  fabric* owner_;
  int host_;
  listed device_;
};

}  // namespace chorale::simulation::device
