// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <exception>
#include <span>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/transport/joining/no_start_guard.hpp>
#include <chorale/transport/wire/control_channel.hpp>
#include <chorale/transport/wire/datagram_port.hpp>

#include "../group/membership.hpp"
#include "../wire/messages.hpp"

namespace chorale::transport {
namespace {

constexpr std::chrono::milliseconds time_to_tell{500};

void send_to_all(datagram_port& port, const membership& members, std::span<const std::byte> notice) {
  const datagram_header head{datagram_header::expected_magic,
                             static_cast<std::uint16_t>(datagram_kind::notice),
                             0,
                             members.numbers().secret,
                             members.rank(),
                             static_cast<std::uint32_t>(notice.size())};
  for (int peer = 0; peer < members.size(); ++peer) {
    if (peer == members.rank()) continue;
    try {
      // Retry once if the queue was full; ranks that miss it get it in the next round.
      if (!port.send(peer, {wire(head), notice})) {
        port.drain(std::chrono::milliseconds{10});
        static_cast<void>(port.send(peer, {wire(head), notice}));
      }
    } catch (const std::exception&) {
      // An unreachable rank must not keep the others from hearing it.
    }
  }
}

}  // namespace

void announce_no_start(datagram_port& port, const membership& members) noexcept {
  // Not allocated, since memory may be what this rank lacks.
  failure_notice why{};
  why.code = static_cast<int>(errc::bootstrap_failed);
  why.rank_count = 1;
  why.ranks[0] = members.rank();
  why.bytes = static_cast<std::uint32_t>(
      fmt::format_to_n(why.text, sizeof why.text, "rank {} could not make its communicator", members.rank())
          .size);
  const auto notice = wire(why).first(failure_notice::bytes_without_text + why.bytes);
  try {
    for (int i = 0; i < unacknowledged_repetitions; ++i) {
      send_to_all(port, members, notice);
      // Closing the port discards what was not sent yet.
      port.drain(time_to_tell / unacknowledged_repetitions);
    }
  } catch (...) {
    // The other ranks then notice the silence.
  }
}

no_start_guard::~no_start_guard() {
  if (channel_ != nullptr) announce_no_start(channel_->port(), *group_);
}

}  // namespace chorale::transport
