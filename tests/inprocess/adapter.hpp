// SPDX-License-Identifier: Apache-2.0
// A stand-in for an adapter: soft0 behind a driver that guarantees no more than an adapter's driver does.
#pragma once

#include <array>
#include <cstdlib>

#include <chorale/verbs/device.hpp>
#include <chorale/verbs/driver.hpp>

#include "../../lib/verbs/software_device.hpp"

namespace inprocess::adapter {

inline constexpr const char* name = "adapter0";

/// Makes no promise about the order in which its writes become visible, copies by itself, and offers no
/// mapping of its memory.
inline const chorale::verbs::driver& driver() {
  static chorale::verbs::listed_device only{name};
  static const chorale::verbs::driver made = [] {
    chorale::verbs::driver d = *chorale::verbs::soft();
    d.name = "adapter";
    d.finds_by_address = false;
    d.copies_by_core = nullptr;
    d.keeps_order = nullptr;
    d.zero_copy_from = nullptr;
    d.map = nullptr;
    d.unmap = nullptr;
    d.get_device_list = [](int* count) { return chorale::verbs::list_of(&only.shown, count); };
    d.free_device_list = [](ibv_device** list) { std::free(list); };
    d.open_device = [](ibv_device*) -> ibv_context* {
      int count = 0;
      ibv_device** const all = chorale::verbs::soft()->get_device_list(&count);
      if (all == nullptr) return nullptr;
      ibv_context* const opened = chorale::verbs::soft()->open_device(all[0]);
      chorale::verbs::soft()->free_device_list(all);
      return opened;
    };
    return d;
  }();
  return made;
}

/// While it exists, the calling thread sees an adapter, and soft0 too if `has_soft0`.
class present {
 public:
  explicit present(bool has_soft0 = true)
      : all_{&driver(), chorale::verbs::soft()}, replaced_(std::span{all_}.first(has_soft0 ? 2 : 1)) {}

 private:
  std::array<const chorale::verbs::driver*, 2> all_;
  chorale::verbs::replaced_drivers replaced_;
};

}  // namespace inprocess::adapter
