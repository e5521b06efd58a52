// SPDX-License-Identifier: Apache-2.0
// Memory that peers may access: its name, and which peers.
#pragma once

#include <cstdint>

namespace chorale {

/// Which peers access memory, or are accessed from it: all, those of this rank's place, or those of other
/// places.
enum class peer_set { all, near, far };

/// Memory exposed by a peer, as it is sent in messages: 32 bytes, trivially copyable. Since regions are
/// forwarded, each carries the keys of both devices through which readers may reach the owner; the key of a
/// device that no reader uses is 0.
struct remote_region {
  std::uint64_t address = 0;  ///< in the owner's address space
  std::uint64_t bytes = 0;    ///< how many
  std::uint32_t key = 0;      ///< remote key of the owner's device, or of its adapter
  std::int32_t owner = -1;    ///< the owner's rank
  /// Remote key for the ranks of the owner's place, if these use a device of their own.
  std::uint32_t near_key = 0;
  std::uint32_t reserved = 0;  ///< zero

  bool operator==(const remote_region&) const = default;
  /// The `count` bytes from address `from` on, which lie in this region.
  [[nodiscard]] remote_region part(std::uint64_t from, std::uint64_t count) const noexcept {
    return {from, count, key, owner, near_key};
  }
};

}  // namespace chorale
