// A driver without a device: it hands out empty objects, counts them, and fails where a test asks for it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <chorale/verbs/driver.hpp>

namespace fake {

struct row {
  ibv_gid gid{};
  std::uint32_t type = IBV_GID_TYPE_IB;
  bool used = true;
};

struct port {
  ibv_port_state state = IBV_PORT_ACTIVE;
  std::uint8_t link_layer = IBV_LINK_LAYER_INFINIBAND;
  ibv_mtu active_mtu = IBV_MTU_4096;
  std::vector<row> gids;
  std::vector<std::uint16_t> pkeys{0xffff};
  std::uint8_t flags = 0;
};

struct device {
  std::string name;
  std::vector<port> ports;
  ibv_transport_type transport = IBV_TRANSPORT_IB;
  int open_errno = 0;  ///< with which opening it fails
  int max_srq = 100;
  ibv_atomic_cap atomics = IBV_ATOMIC_HCA;
  bool datagrams = true;                 ///< whether it has UD queue pairs
  std::uint32_t most_inline = 1U << 31;  ///< queue pairs with more cannot be made
};

/// What the driver has and what happened to it. Each driver has one of its own.
struct machine {
  std::vector<device> devices;
  int list_errno = 0;                   ///< with which listing fails
  std::map<std::string, int> failures;  ///< entry of the table -> errno with which it fails
  std::map<std::string, int> live;      ///< kind of object -> how many there are
  std::uint32_t registrations = 0;      ///< memory regions that were ever made: the lkey of the last
  std::map<std::uint32_t, std::span<const std::byte>> regions;  ///< registered now, by lkey
  int poll_result = 0;                                          ///< of ibv_poll_cq
  ibv_wc completion{};                                          ///< what it gives, so often
  int post_result = 0;                                          ///< of ibv_post_send and its kin
  ibv_qp_state state = IBV_QPS_RESET;                           ///< of every queue pair
  ibv_qp_init_attr created{};                                   ///< what the last queue pair was asked to be
  int registered_access = 0;                                    ///< what the last memory region allows
  ibv_qp_attr modified{};  ///< what the last ibv_modify_qp was given, with its mask
  int modified_mask = 0;

  /// Descriptor of asynchronous events, a byte for each of `events`.
  int async_fd = -1;
  std::vector<ibv_async_event> events;

  /// Objects of all kinds that there are.
  [[nodiscard]] int total() const {
    int sum = 0;
    for (const auto& [kind, count] : live) sum += count;
    return sum;
  }
};

/// The two machines, and their drivers named as "rdma-core" and "soft", so that choose() takes them for
/// these.
machine& real();
machine& software();
const chorale::verbs::driver& real_driver();
const chorale::verbs::driver& software_driver();

/// ::ffff:a.b.c.d with a RoCE v2 type, and an fe80:: row of the given type.
row ipv4_row(std::uint32_t type = IBV_GID_TYPE_ROCE_V2);
row link_local_row(std::uint32_t type);
row empty_row();
/// A row with that address, as IPv6.
row row_of(const char* address, std::uint32_t type);
/// A device with one active InfiniBand port, one active Ethernet port with the usual four GID rows.
device infiniband(const std::string& name);
device roce(const std::string& name);

}  // namespace fake
