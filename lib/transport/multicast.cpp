// What an endpoint has to do with its multicast group.
#include <algorithm>
#include <utility>

#include <chorale/transport/endpoint.hpp>

#include "messages.hpp"
#include "multicast_address.hpp"
#include "multicast_messages.hpp"

namespace chorale::transport {
namespace {

/// How long a rank that leaves waits for those that have not told yet that they have its multicasts.
constexpr auto longest_farewell = std::chrono::seconds{2};

}  // namespace

bool endpoint::has_multicast() const {
  return transport::has_multicast(device(), local_, settings_);
}

std::size_t endpoint::multicast_bytes() const noexcept {
  return static_cast<std::size_t>(chosen_.mtu_bytes) - sizeof(datagram_header) - sizeof(message_head);
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
    const auto give_up = steady::now() + std::min<steady::duration>(settings_.deadline, longest_farewell);
    backoff pace{spin_};
    const auto begin = steady::now();
    while (!multicast_->settle()) {
      const auto now = steady::now();
      if (now >= give_up || notice_) return;
      progress();
      if (pace()) pace.elapsed(now - begin);
    }
  } catch (...) {
    // A peer is lost, or the device: then there is nobody to wait for, or no way to.
  }
}

}  // namespace chorale::transport
