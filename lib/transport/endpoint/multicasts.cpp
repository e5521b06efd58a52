// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <optional>
#include <utility>

#include <chorale/transport/endpoint/endpoint.hpp>
#include <chorale/transport/endpoint/multicast_group.hpp>
#include <chorale/transport/endpoint/multicasts.hpp>

#include "../multicast/multicast_address.hpp"
#include "../multicast/multicast_messages.hpp"
#include "../wire/messages.hpp"

namespace chorale::transport {
multicasts::multicasts(endpoint& owner)
    : owner_(&owner),
      datagrams_(owner.channel().subscribe(
          raw(multicast_kind::signal), raw(multicast_kind::last), control_channel::reader::any,
          {[this](int from, std::uint16_t kind, std::span<const std::byte> body) {
            // A rank that has not joined yet has nothing to report: it will request what it misses.
            if (group_) group_->take(from, kind, body);
          }})) {}
multicasts::~multicasts() = default;

bool multicasts::are_possible() const {
  return has_multicast(owner_->port().device(), owner_->port().local(), owner_->settings());
}

std::size_t multicasts::payload_bytes() const noexcept {
  return static_cast<std::size_t>(owner_->port().mtu_bytes()) - sizeof(datagram_header) -
         sizeof(message_head);
}

void multicasts::join() {
  if (owner_->size() > 1) static_cast<void>(group());
}

void multicasts::make_group() {
  auto made = std::make_unique<multicast_group>(*owner_);
  {
    const std::lock_guard hold{owner_->channel().lock()};
    group_ = std::move(made);
  }
  // A rank that misses a multicast asks its sender, which may then be outside all calls.
  owner_->channel().start_service();
}

void multicasts::progress() {
  if (group_) group_->progress();
}

multicast_statistics multicasts::statistics() const {
  return group_ ? group_->statistics() : multicast_statistics{};
}

std::uint64_t multicasts::resent() const noexcept {
  return group_ ? group_->statistics().repairs : 0;
}

std::size_t multicasts::memory_bytes() const noexcept {
  return group_ ? group_->memory_bytes() : 0;
}

void multicasts::settle() noexcept {
  if (!group_ || owner_->failures().has_any() || std::exchange(settled_, true)) return;
  try {
    owner_->engine().wait_to_leave([this]() -> std::optional<int> {
      if (group_->settle()) return std::nullopt;
      owner_->engine().progress();
      return -1;
    });
  } catch (...) {
    // A peer or the device is lost: there is nothing to wait for.
  }
}

}  // namespace chorale::transport
