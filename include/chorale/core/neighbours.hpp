// Messages between a rank and those that it names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace chorale {

/// In place of a rank: nothing is sent there or comes from there.
inline constexpr int nobody = -1;

/// A message to rank `peer`, which may be this rank.
struct outgoing {
  int peer = nobody;
  std::span<const std::byte> bytes;
  std::uint32_t type = 0;  ///< `type_tag` of the elements, which has to be the receiver's
};

/// Where a message of rank `peer` goes, which fills it.
struct incoming {
  int peer = nobody;
  std::span<std::byte> bytes;
  std::uint32_t type = 0;
};

}  // namespace chorale
