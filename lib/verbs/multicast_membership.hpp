// SPDX-License-Identifier: Apache-2.0
// Membership of a datagram queue pair in a multicast group.
#pragma once

#include <cstdint>

#include <chorale/verbs/queue_pair.hpp>

namespace chorale::verbs {

/// Attached from construction to `close()`. The queue pair must outlive it. On a real fabric the port must
/// also have joined the group (subnet manager on InfiniBand, IGMP or MLD on RoCE); attaching alone steers
/// only packets that reach the port. A group's packets reach every attached queue pair, including the
/// sender's own.
class multicast_membership {
 public:
  /// `group`: ff00::/8 or IPv4-mapped 224.0.0.0/4; `lid`: its LID on InfiniBand, else 0.
  /// @throws error errc::invalid_argument if `member` is not a UD queue pair or `group` is not a multicast
  /// GID; a system error if the device refuses.
  multicast_membership(const queue_pair& member, const ibv_gid& group, std::uint16_t lid = 0);
  multicast_membership(multicast_membership&& other) noexcept;
  multicast_membership& operator=(multicast_membership&& other) noexcept;
  ~multicast_membership() { static_cast<void>(detach()); }

  [[nodiscard]] const ibv_gid& group() const noexcept { return group_; }
  [[nodiscard]] std::uint16_t lid() const noexcept { return lid_; }

  /// Detaches; a second call does nothing. @throws error if the device refuses.
  void close();

 private:
  [[nodiscard]] int detach() noexcept;

  const driver* provider_ = nullptr;
  ibv_qp* member_ = nullptr;
  ibv_gid group_{};
  std::uint16_t lid_ = 0;
};

}  // namespace chorale::verbs
