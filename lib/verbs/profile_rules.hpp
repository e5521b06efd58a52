// SPDX-License-Identifier: Apache-2.0
// The effects of a profile on the calls of a software device, common to soft0 and sim0.
#pragma once

#include <cstddef>
#include <cstdint>

#include <chorale/verbs/driver.hpp>

#include "device_profile.hpp"

namespace chorale::verbs {

/// The limits of the software device itself: a profile cannot exceed them.
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
/// Lowers each limit of the profile to the device's limit, if that is smaller.
void keep_within(device_profile& profile, const device_limits& device) noexcept;

// Precondition of the following functions: the profile is within its device.

/// Fills in all attributes but names and the limits of the device itself.
void describe(const device_profile& profile, ibv_device_attr& attributes) noexcept;
/// Fills in all attributes of the port. `lid`: for InfiniBand.
void describe(const device_profile& profile, std::uint16_t lid, bool up, ibv_port_attr& attributes) noexcept;
int query_pkey(const device_profile& profile, std::uint8_t port, int index, __be16* pkey) noexcept;

/// The properties that determine which ports can reach each other. Has no pointers and no padding, so that
/// processes can share it.
struct port_identity {
  std::uint64_t subnet = 0;
  std::uint64_t fabric = 0;
  std::uint32_t ethernet = 0;
  std::uint32_t lid = 0;
  std::uint64_t gid_count = 0;
  profile_gid gids[most_profile_gids]{};
};
/// `own`: the GID of the unmodified device.
port_identity identity_of(const device_profile& profile, std::uint16_t lid, const ibv_gid& own) noexcept;
int query_gid(const port_identity& own, std::uint8_t port, int index, ibv_gid* gid) noexcept;
int query_gid_type(const port_identity& own, std::uint8_t port, int index, std::uint32_t* type) noexcept;

inline constexpr std::uint16_t first_multicast_lid = 0xc000;  ///< and up to 0xfffe, those of groups
/// Whether that names a multicast group, for ibv_attach_mcast and ibv_detach_mcast.
bool is_group(const ibv_gid* gid, std::uint16_t lid) noexcept;

/// The path of packets, as address attributes give it. Without initializers, since it is copied with each
/// datagram.
struct packet_path {
  bool global;
  bool multicast;
  std::uint8_t service_level;
  std::uint8_t hop_limit;
  std::uint8_t source_index;  ///< index of a global path's source GID
  std::uint16_t lid;
  std::uint32_t flow;  ///< traffic class and flow label, as in a GRH
  ibv_gid gid;
};
packet_path path_of(const ibv_ah_attr& attributes) noexcept;
/// Whether packets of partition `pkey` sent from one port by `path` reach a queue pair of partition
/// `their_pkey` at the other. Precondition: port number and GID index of the path are valid.
bool reaches(const port_identity& from, std::uint16_t pkey, const packet_path& path, const port_identity& to,
             std::uint16_t their_pkey) noexcept;

/// Checks the requested capabilities of a queue pair, and lowers the inline bytes if the device grants less.
/// 0 or an errno.
int grant(const device_profile& profile, ibv_qp_init_attr& wanted) noexcept;
int check(const device_profile& profile, const ibv_srq_init_attr& wanted) noexcept;
/// Checks the attributes in `mask` for a queue pair in state `from`: 0 or an errno.
int check_change(const device_profile& profile, ibv_qp_type type, ibv_qp_state from,
                 const ibv_qp_attr& attributes, int mask) noexcept;
int check(const device_profile& profile, const ibv_ah_attr& path) noexcept;
/// `locked`: bytes that are registered already.
int check_registration(const device_profile& profile, std::uint64_t begin, std::uint64_t bytes, int access,
                       std::uint64_t locked) noexcept;

/// The result of `ibv_query_qp_data_in_order` for these flags on a device with this `answer`.
constexpr int data_in_order(order_answer answer, std::uint32_t flags) noexcept {
  if (flags == 0) return answer == order_answer::whole ? 1 : 0;
  if (flags != in_order_capabilities) return 0;
  return answer == order_answer::whole         ? in_order_whole | in_order_aligned_128
         : answer == order_answer::aligned_128 ? in_order_aligned_128
                                               : 0;
}

}  // namespace chorale::verbs
