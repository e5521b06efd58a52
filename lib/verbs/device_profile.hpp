// SPDX-License-Identifier: Apache-2.0
// Profiles of software devices: the limits and peculiarities of real adapters.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <infiniband/verbs.h>

namespace chorale::verbs {

/// The order in which data of one queue pair's RDMA writes becomes visible to a processor that polls: ordered
/// among and within requests, only within each request, or not at all.
enum class placement_order : std::uint8_t { ordered, within_request, unordered };

/// The answer of `ibv_query_qp_data_in_order` for writes into a queue pair: nothing is in order, whole
/// messages are, or only blocks of 128 bytes that are aligned to 128.
enum class order_answer : std::uint8_t { none, whole, aligned_128 };

struct profile_gid {
  ibv_gid gid{};
  std::uint64_t type = 0;  ///< an IBV_GID_TYPE_*: 0 InfiniBand, 1 RoCE v1, 2 RoCE v2
};
inline constexpr std::size_t most_profile_gids = 16;

struct address_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// An event of a device, at time `after` since it was first opened.
struct profile_event {
  ibv_event_type what = IBV_EVENT_DEVICE_FATAL;
  std::chrono::milliseconds after{};
};

/// Differences from the unmodified software device. A limit can only lower the device's own.
struct device_profile {
  static constexpr std::uint32_t as_it_is = std::numeric_limits<std::uint32_t>::max();

  std::optional<placement_order> placement;
  std::optional<order_answer> in_order;

  std::uint32_t shared_receive_queues = as_it_is;  ///< 0: the call is not supported
  bool datagrams = true;                           ///< queue pairs of type UD
  std::uint32_t inline_bytes = as_it_is;
  bool grants_less_inline = false;  ///< a request for more inline bytes gets `inline_bytes`, no error
  ibv_atomic_cap atomics = IBV_ATOMIC_HCA;
  std::uint32_t rd_atomic = as_it_is;  ///< outstanding reads and atomics per connection and direction
  std::uint32_t sges = as_it_is;
  std::uint32_t depth = as_it_is;  ///< work requests per queue
  std::uint32_t completions = as_it_is;
  std::uint32_t queue_pairs = as_it_is;
  std::uint32_t address_handles = as_it_is;
  std::uint32_t multicast_groups = as_it_is;                              ///< 0: the call is not supported
  std::uint64_t max_message = std::numeric_limits<std::uint64_t>::max();  ///< bytes

  bool needs_global_route = false;  ///< IBV_QPF_GRH_REQUIRED
  ibv_mtu mtu = IBV_MTU_4096;
  std::vector<std::uint16_t> pkeys{0xffff};
  std::vector<profile_gid> gids;  ///< empty: only the device's own GID
  std::uint64_t subnet = 0xfe80'0000'0000'0000;
  std::uint32_t fabric = 0;  ///< ports on different fabrics cannot reach each other, whatever their addresses
  bool ethernet = false;
  std::uint8_t width = 2;   ///< as in ibv_port_attr: 4 lanes
  std::uint8_t speed = 32;  ///< as in ibv_port_attr: 25 Gb/s each

  std::vector<address_range> refused_ranges;
  bool refuses_files = false;                                          ///< mapped files cannot be registered
  std::uint64_t lockable = std::numeric_limits<std::uint64_t>::max();  ///< limit of registered bytes
  std::vector<profile_event> events;                                   ///< sorted by time
};

/// Reads one or more profiles, separated by ';', which are assigned to ranks round-robin. A profile is a
/// list, separated by ',' or newlines: optionally the name of a shipped profile, then items `key=value`, each
/// of which replaces an earlier value of the key. The elements of a value that is itself a list are also
/// separated by ','. '#' begins a comment, up to the end of the line. The empty text is the unmodified
/// device.
/// @returns empty, or a description of the error and of the accepted values.
std::string read_profiles(std::string_view text, std::vector<device_profile>& profiles);
/// The same; sets `profile` to that of a rank.
std::string read_profile(std::string_view text, std::uint64_t rank, device_profile& profile);

struct shipped_device_profile {
  std::string_view name;
  std::string_view text;
};

/// Sorted by name.
[[nodiscard]] std::span<const shipped_device_profile> shipped_profiles() noexcept;

}  // namespace chorale::verbs
