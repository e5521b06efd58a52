// What a software device grants, refuses and does: the least, or the oddest, of what adapters do.
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

/// In which order the bytes that RDMA writes of one queue pair carry become visible to a processor that
/// polls: in that of the requests and within each, within each only, or in any.
enum class placement_order : std::uint8_t { ordered, within_request, unordered };

/// What `ibv_query_qp_data_in_order` answers for writes into a queue pair: nothing is in order, messages are,
/// or only blocks of 128 bytes that are aligned to 128.
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

/// What happens to a device, so long after it was opened for the first time.
struct profile_event {
  ibv_event_type what = IBV_EVENT_DEVICE_FATAL;
  std::chrono::milliseconds after{};
};

/// What differs from the software device as it is. A limit only lowers that of the device.
struct device_profile {
  static constexpr std::uint32_t as_it_is = std::numeric_limits<std::uint32_t>::max();

  std::optional<placement_order> placement;
  std::optional<order_answer> in_order;

  std::uint32_t shared_receive_queues = as_it_is;  ///< 0: the call is not supported
  bool datagrams = true;                           ///< queue pairs of type UD
  std::uint32_t inline_bytes = as_it_is;
  bool grants_less_inline = false;  ///< a wish for more inline bytes is granted `inline_bytes`, not refused
  ibv_atomic_cap atomics = IBV_ATOMIC_HCA;
  std::uint32_t rd_atomic = as_it_is;  ///< reads and atomic operations of a connection, in each direction
  std::uint32_t sges = as_it_is;
  std::uint32_t depth = as_it_is;  ///< work requests of a queue
  std::uint32_t completions = as_it_is;
  std::uint32_t queue_pairs = as_it_is;
  std::uint32_t address_handles = as_it_is;
  std::uint32_t multicast_groups = as_it_is;                              ///< 0: the call is not supported
  std::uint64_t max_message = std::numeric_limits<std::uint64_t>::max();  ///< bytes

  bool needs_global_route = false;  ///< IBV_QPF_GRH_REQUIRED
  ibv_mtu mtu = IBV_MTU_4096;
  std::vector<std::uint16_t> pkeys{0xffff};
  std::vector<profile_gid> gids;  ///< empty: one, of the device
  std::uint64_t subnet = 0xfe80'0000'0000'0000;
  std::uint32_t fabric = 0;  ///< between two there is no way, whatever the addresses of their ports are
  bool ethernet = false;
  std::uint8_t width = 2;   ///< as in ibv_port_attr: 4 lanes
  std::uint8_t speed = 32;  ///< as in ibv_port_attr: of 25 Gb/s
  int numa_node = -1;       ///< -1: unknown

  std::vector<address_range> refused_ranges;
  bool refuses_files = false;  ///< memory that is a mapped file cannot be registered
  std::uint64_t lockable = std::numeric_limits<std::uint64_t>::max();  ///< bytes registered at a time
  std::vector<profile_event> events;                                   ///< in the order of their times
};

/// Reads profiles with ';' between, at least one, which ranks take in turn. A profile is a list with ',' or
/// lines between: first, perhaps, the name of a shipped profile; then `key=value`, which replaces what stands
/// before. A value that is itself a list goes on with ','. '#' begins a comment up to the end of its line.
/// The empty text is the device as it is.
/// @returns empty, or what is wrong, with what is accepted.
std::string read_profiles(std::string_view text, std::vector<device_profile>& profiles);
/// The same, of which `profile` is that of a rank.
std::string read_profile(std::string_view text, std::uint64_t rank, device_profile& profile);

struct shipped_profile {
  std::string_view name;
  std::string_view text;
};

/// In the order of their names.
[[nodiscard]] std::span<const shipped_profile> shipped_profiles() noexcept;

}  // namespace chorale::verbs
