// Messages between a rank and those that it names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chorale {

/// In place of a rank: nothing is sent there or comes from there.
inline constexpr int nobody = -1;

/// A message to rank `peer`, which may be this rank.
struct outgoing {
  int peer = nobody;                 ///< the rank it goes to
  std::span<const std::byte> bytes;  ///< unchanged until the call is over
  std::uint32_t type = 0;            ///< `type_tag` of the elements, which has to be the receiver's
};

/// Where a message of rank `peer` goes, which fills it.
struct incoming {
  int peer = nobody;           ///< the rank it comes from
  std::span<std::byte> bytes;  ///< as many as the sender sends
  std::uint32_t type = 0;      ///< `type_tag` of the elements, which has to be the sender's
};

/// How far `peer` is from `rank`, upwards and around, among `ranks`.
[[nodiscard]] constexpr int distance_of(int peer, int rank, int ranks) noexcept {
  return (peer - rank + ranks) % ranks;
}

/// The distances of all ranks but itself with which `rank` has messages, rising, each once: who goes by them
/// does not begin with the rank with which all others begin. Precondition: peers are `nobody` or among
/// `ranks`.
[[nodiscard]] std::vector<int> distances_of_peers(int rank, int ranks, std::span<const outgoing> sends,
                                                  std::span<const incoming> takes);

}  // namespace chorale
