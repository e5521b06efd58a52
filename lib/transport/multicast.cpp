// What an endpoint has to do with its multicast group.
#include <algorithm>
#include <utility>

#include <chorale/transport/endpoint.hpp>

#include "messages.hpp"
#include "multicast_address.hpp"
#include "multicast_messages.hpp"

namespace chorale::transport {
namespace {

/// How often a rank that leaves looks who is dead among those that have not told yet that they have its
/// multicasts.
constexpr auto look_interval = std::chrono::milliseconds{100};

}  // namespace

bool endpoint::has_multicast() const {
  return transport::has_multicast(device(), ports_.front().local(), settings_);
}

std::size_t endpoint::multicast_bytes() const noexcept {
  return static_cast<std::size_t>(chosen().mtu_bytes) - sizeof(datagram_header) - sizeof(message_head);
}

void endpoint::make_multicast_group() {
  auto made = std::make_unique<multicast_group>(*this);
  {
    const std::lock_guard hold{lock_};
    multicast_ = std::move(made);
  }
  // Who misses a multicast asks its sender, which may then be in no call.
  start_service();
}

multicast_statistics endpoint::multicast_statistics() const {
  return multicast_ ? multicast_->statistics() : transport::multicast_statistics{};
}

void endpoint::settle_multicasts() noexcept {
  if (!multicast_ || failure_ || std::exchange(multicasts_settled_, true)) return;
  try {
    const steady::duration deadline = settings_.deadline;
    backoff pace{spin_};
    const auto begin = attend();
    auto next_look = begin + look_interval;
    while (!multicast_->settle()) {
      const auto now = attend();
      if (notice_ || (deadline != steady::duration::zero() && now - begin >= deadline)) return;
      if (now >= next_look) {
        next_look = now + look_interval;
        look_at_processes();
      }
      progress();
      if (pace()) pace.elapsed(now - begin);
    }
  } catch (...) {
    // A peer is lost, or the device: then there is nobody to wait for, or no way to.
  }
}

}  // namespace chorale::transport
