// SPDX-License-Identifier: Apache-2.0
// The simulated soft0, by which the ranks of a host reach each other without its adapter.
#pragma once

#include "fabric.hpp"
#include "near_copies.hpp"
#include "wire.hpp"

namespace chorale::simulation::device {

/// A device on each host, in addition to its adapter, with the machine's `near_costs`: cores copy the
/// payloads, which the other core sees after the time of a cache line. While it lives, `soft0` is in the list
/// of devices of each rank.
class near_device {
 public:
  /// The arguments must outlive it; `on` has `near`. Requires the fabric of the adapters.
  near_device(scheduler& time, const machine& on, const host_layout& ranks, memory_costs& memory,
              const disturbance& chance);

  [[nodiscard]] fabric& ranks() noexcept { return fabric_; }

 private:
  wire costs_;
  near_copies copies_;
  fabric fabric_;
};

}  // namespace chorale::simulation::device
