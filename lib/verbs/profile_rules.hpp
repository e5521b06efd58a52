// What a profile makes of the calls of a software device: both soft0 and sim0 decide by these.
#pragma once

#include <cstddef>
#include <cstdint>

#include <chorale/verbs/driver.hpp>

#include "device_profile.hpp"

namespace chorale::verbs {

/// What a software device has of itself: its profile cannot grant more.
struct device_limits {
  std::uint32_t inline_bytes;
  std::uint32_t rd_atomic;
  std::uint32_t sges;
  std::uint32_t depth;
  std::uint32_t completions;
  std::uint32_t queue_pairs;
  std::uint32_t address_handles;
  std::uint32_t multicast_groups;
  std::uint32_t shared_receive_queues;
  std::uint64_t max_message;
  ibv_mtu mtu;
};
/// Lowers each limit of the profile to that of the device.
void keep_within(device_profile& profile, const device_limits& device) noexcept;

// The following read a profile that is within its device.

/// Fills the limits.
void describe(const device_profile& profile, ibv_device_attr& attributes) noexcept;
/// Fills all that is the same for all ports of the profile. `lid`: of InfiniBand.
void describe(const device_profile& profile, std::uint16_t lid, ibv_port_attr& attributes) noexcept;

/// What decides whom a port reaches. Has no pointers and no padding, so that processes can share it.
struct port_identity {
  std::uint64_t subnet = 0;
  std::uint64_t fabric = 0;
  std::uint32_t ethernet = 0;
  std::uint32_t lid = 0;
  std::uint64_t gid_count = 0;
  profile_gid gids[most_profile_gids]{};
};
/// `own`: the GID of the device as it is.
port_identity identity_of(const device_profile& profile, std::uint16_t lid, const ibv_gid& own) noexcept;
/// Whether what leaves one port by a path, whose port number and index of the GID are right, comes to the
/// other.
bool reaches(const port_identity& from, const ibv_ah_attr& path, const port_identity& to) noexcept;

/// A row of the port's table of GIDs; `own` is what the device has without any of its profile. 0 or EINVAL.
int find_gid(const device_profile& profile, int index, const ibv_gid& own, profile_gid& found) noexcept;

/// Checks the wishes for a queue pair, and lowers that for inline bytes where it is granted less. 0 or an
/// errno.
int grant(const device_profile& profile, ibv_qp_init_attr& wanted) noexcept;
int check(const device_profile& profile, const ibv_srq_init_attr& wanted) noexcept;
/// The attributes in `mask`, besides what transitions require.
int check(const device_profile& profile, const ibv_qp_attr& attributes, int mask) noexcept;
int check(const device_profile& profile, const ibv_ah_attr& path) noexcept;
/// `locked`: bytes that are registered already.
int check_registration(const device_profile& profile, std::uint64_t begin, std::uint64_t bytes, int access,
                       std::uint64_t locked) noexcept;

/// Whether members of two partitions may talk: of the same one, and not both limited.
constexpr bool share_partition(std::uint16_t one, std::uint16_t other) noexcept {
  return ((one ^ other) & 0x7fff) == 0 && ((one | other) & 0x8000) != 0;
}

/// What `ibv_query_qp_data_in_order` returns for these flags, if that is what the device answers.
constexpr int data_in_order(order_answer answer, std::uint32_t flags) noexcept {
  if (flags == 0) return answer == order_answer::whole ? 1 : 0;
  if (flags != in_order_capabilities) return 0;
  return answer == order_answer::whole         ? in_order_whole | in_order_aligned_128
         : answer == order_answer::aligned_128 ? in_order_aligned_128
                                               : 0;
}

}  // namespace chorale::verbs
