// SPDX-License-Identifier: Apache-2.0
// The members of multicast groups.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "hca.hpp"

namespace chorale::simulation::device {

/// The name by which queue pairs attach to a group. Datagrams with a GRH find it by the GID, others by the
/// LID.
struct group_name {
  std::array<std::uint8_t, 16> gid{};
  std::uint16_t lid = 0;
  friend auto operator<=>(const group_name&, const group_name&) = default;
};

/// The members of all groups. The table also acts as subnet manager: attaching creates a group.
class group_table {
 public:
  /// The queue pairs of one adapter, in the order of attaching.
  struct branch {
    hca* to = nullptr;
    std::vector<std::uint32_t> members;
  };
  using tree = std::vector<branch>;  ///< ordered by host

  /// False if it was attached already, which has no effect. @throws std::bad_alloc.
  bool attach(const group_name& name, hca& to, std::uint32_t queue_pair);
  /// False if it was not attached.
  bool detach(const group_name& name, hca& to, std::uint32_t queue_pair) noexcept;
  /// Calls `f(adapter)` for each adapter that a datagram to `path` reaches.
  template <class F>
  void for_each_hca(const address_vector& path, F f) const {
    for (const auto& [name, branches] : groups_)
      if (fits(name, path))
        for (const branch& b : branches) f(*b.to);
  }
  /// The current queue pairs of this adapter that get a datagram to `path`.
  [[nodiscard]] std::vector<std::uint32_t> members(const address_vector& path, const hca& of) const;

 private:
  [[nodiscard]] static bool fits(const group_name& name, const address_vector& path) noexcept;
  template <class Tree>
  [[nodiscard]] static auto find(Tree& branches, const hca& to) noexcept;

  std::map<group_name, tree> groups_;
};

}  // namespace chorale::simulation::device
