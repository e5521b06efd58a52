#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <chorale/transport/opened_device.hpp>

#include "../core/immortal.hpp"
#include "device_watch.hpp"
#include "kept_choices.hpp"

namespace chorale::transport {

opened_device::opened_device(const verbs::device_info& which)
    : device(verbs::device::open(which)), domain(device), watch(new device_watch(device)) {}

opened_device::~opened_device() {
  delete watch;
  // In a child of fork() another thread of the parent may hold the lock for good.
  if (made.is_here()) forget_ended_choices();
}

std::shared_ptr<const opened_device> opened_device::of(const verbs::device_info& which) {
  if (which.provider != verbs::soft() && which.provider != verbs::rdma_core())
    return std::make_shared<const opened_device>(which);
  static std::mutex mutex;
  static detail::immortal<
      std::map<std::pair<const verbs::driver*, std::string>, std::weak_ptr<const opened_device>>>
      open;
  const std::lock_guard hold{mutex};
  auto& known = (*open)[{which.provider, which.name}];
  auto found = known.lock();
  // A child of fork() must not use what its parent has opened.
  if (!found || !found->made.is_here()) known = found = std::make_shared<const opened_device>(which);
  return found;
}

}  // namespace chorale::transport
