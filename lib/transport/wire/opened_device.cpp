// SPDX-License-Identifier: Apache-2.0
#include <chorale/transport/wire/opened_device.hpp>

#include "../../core/over_forks.hpp"
#include "device_watch.hpp"
#include "devices_in_use.hpp"

namespace chorale::transport {
namespace {

[[gnu::constructor]] void share_no_devices_with_children() {
  detail::of_process<devices_in_use>::handle_forks();
}

}  // namespace

devices_in_use& devices_in_use::of_process() {
  return detail::of_process<devices_in_use>::get();
}

opened_device::opened_device(const verbs::device_info& which)
    : device(verbs::device::open(which)), domain(device), watch(new device_watch(device)) {}

opened_device::~opened_device() {
  delete watch;
  auto& in_use = devices_in_use::of_process();
  const std::lock_guard hold{in_use.lock};
  std::erase_if(in_use.choices, [](const kept_choice& k) { return k.opened.expired(); });
}

std::shared_ptr<const opened_device> opened_device::of(const verbs::device_info& which, bool is_second) {
  if (which.provider != verbs::soft() && which.provider != verbs::rdma_core())
    return std::make_shared<const opened_device>(which);
  auto& in_use = devices_in_use::of_process();
  const std::lock_guard hold{in_use.lock};
  auto& known = in_use.opened[{which.provider, is_second ? which.name + " again" : which.name}];
  auto found = known.lock();
  if (!found) known = found = std::make_shared<const opened_device>(which);
  return found;
}

}  // namespace chorale::transport
