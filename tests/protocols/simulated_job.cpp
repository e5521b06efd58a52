// SPDX-License-Identifier: Apache-2.0
#include "simulated_job.hpp"

#include <algorithm>
#include <cstring>

namespace protocols {

void simulated_job::disturb(const datagram& d, int to) {
  const auto again = [&](const datagram& what, int receiver) {
    net.after(net.between(5us, 3ms),
              [this, what, receiver] { nodes[static_cast<std::size_t>(receiver)]->inject(what); });
  };
  if (replay > 0) {
    if (net.chance(0.1)) old.push_back({to, d});
    if (!old.empty() && net.chance(replay)) {
      const auto& [receiver, what] = old[net.below(old.size())];
      net.note([&, from = what.from, k = what.kind, receiver = receiver] {
        return fmt::format("  an old datagram of kind {} goes from {} to {} once more", k, from, receiver);
      });
      again(what, receiver);
    }
  }
  if (damage > 0 && net.chance(damage)) again(damaged(d), to);
}

/// A datagram that no rank sends: too short, of an unknown kind, with unknown flags, or far ahead of the
/// expected one.
datagram simulated_job::damaged(datagram d) {
  constexpr std::size_t flags_at = offsetof(reliable::packet_header, flags);
  switch (net.below(4)) {
    case 0:
      d.body.resize(net.below(16));
      break;
    case 1:
      d.kind = static_cast<std::uint16_t>(70 + net.below(10));
      break;
    case 2:
      d.kind = static_cast<std::uint16_t>(reliable::stream_kind::packet);
      d.body.resize(std::max(d.body.size(), sizeof(reliable::packet_header)));
      d.body[flags_at] = std::byte{0x80};
      break;
    default: {
      reliable::packet_header head{};
      d.kind = static_cast<std::uint16_t>(reliable::stream_kind::packet);
      head.number = first_sequence + 0x10000000U + static_cast<std::uint32_t>(net.below(1U << 30));
      head.acknowledged = head.number;
      head.released = 0x1000;
      head.type = static_cast<std::uint8_t>(reliable::packet_type::message);
      d.body.resize(sizeof head);
      std::memcpy(d.body.data(), &head, sizeof head);
      break;
    }
  }
  return d;
}

}  // namespace protocols
