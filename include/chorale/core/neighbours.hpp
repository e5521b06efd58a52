// SPDX-License-Identifier: Apache-2.0
// Messages between a rank and its named peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <chorale/core/strides.hpp>

namespace chorale {

/// The type of `nobody`. It converts to a number that is not a rank, so that a conditional may choose between
/// it and a rank: `rank > 0 ? rank - 1 : nobody`.
struct nobody_t {
  constexpr operator int() const noexcept { return -1; }  ///< no rank
};
/// In place of the peer of a message: sends to it and receives from it are ignored.
inline constexpr nobody_t nobody{};

/// A message to rank `peer`, which may be this rank.
struct outgoing {
  int peer = nobody;                 ///< the rank it goes to
  std::span<const std::byte> bytes;  ///< must not change until the call is complete
  std::uint32_t type = 0;            ///< `type_tag` of the elements, which must equal the receiver's
  strides where{};  ///< if not contiguous, `bytes` has the address of the first element and the packed size
};

/// The buffer for a message from rank `peer`, which must fill it.
struct incoming {
  int peer = nobody;           ///< the rank it comes from
  std::span<std::byte> bytes;  ///< as many bytes as the peer sends
  std::uint32_t type = 0;      ///< `type_tag` of the elements, which must equal the sender's
  strides where{};             ///< as in `outgoing`
};

/// The distance from `rank` up to `peer`, modulo `ranks`. Precondition: both are valid ranks.
[[nodiscard]] constexpr int distance_of(int peer, int rank, int ranks) noexcept {
  const int up = peer - rank;
  return up < 0 ? up + ranks : up;
}

/// Replaces the contents of `ordered` by the messages of `list`, except those with `nobody`, sorted by the
/// distances of their peers from `rank`; messages with the same peer keep the order of the list. Reuses the
/// memory of `ordered`. Precondition: peers are `nobody` or valid ranks.
void order_by_distance(int rank, int ranks, std::span<const outgoing> list, std::vector<outgoing>& ordered);
/// The same for incoming messages.
void order_by_distance(int rank, int ranks, std::span<const incoming> list, std::vector<incoming>& ordered);

/// The messages in that order: `list` itself if it is sorted already, otherwise a copy in `ordered`. Visiting
/// peers by distance keeps all ranks from starting with the same peer.
template <class Message>
[[nodiscard]] std::span<const Message> by_distance(int rank, int ranks, std::span<const Message> list,
                                                   std::vector<Message>& ordered) {
  int before = 0;
  for (const Message& m : list) {
    const int distance = m.peer == nobody ? -1 : chorale::distance_of(m.peer, rank, ranks);
    if (distance < before) {
      chorale::order_by_distance(rank, ranks, list, ordered);
      return ordered;
    }
    before = distance;
  }
  return list;
}

}  // namespace chorale
