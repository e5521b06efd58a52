// SPDX-License-Identifier: Apache-2.0
// A driver without a device: it hands out empty objects, counts them, and fails as the test demands.
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
  std::uint8_t width = 2;   ///< as in ibv_port_attr: 4 lanes
  std::uint8_t speed = 32;  ///< as in ibv_port_attr: EDR
  std::uint16_t sm_lid = 0;
};

struct device {
  std::string name;
  std::vector<port> ports;
  ibv_transport_type transport = IBV_TRANSPORT_IB;
  int open_errno = 0;  ///< the errno of opening it; 0: success
  int max_srq = 100;
  ibv_atomic_cap atomics = IBV_ATOMIC_HCA;
  bool datagrams = true;                 ///< whether it has UD queue pairs
  std::uint32_t most_inline = 1U << 31;  ///< the most inline bytes of a queue pair
};

/// The devices of a driver, and the record of its calls. Each driver has its own.
struct machine {
  std::vector<device> devices;
  int list_errno = 0;                   ///< the errno of listing; 0: success
  std::map<std::string, int> failures;  ///< entry of the table -> errno with which it fails
  std::map<std::string, int> live;      ///< kind of object -> number of live ones
  std::uint32_t registrations = 0;      ///< number of memory regions created so far: the lkey of the last
  std::map<std::uint32_t, std::span<const std::byte>> regions;  ///< live ones, by lkey
  int poll_result = 0;                                          ///< the result of ibv_poll_cq
  ibv_wc completion{};                                          ///< filled in for each polled completion
  int post_result = 0;                 ///< the result of ibv_post_send and the other posting calls
  ibv_qp_state state = IBV_QPS_RESET;  ///< of every queue pair
  ibv_qp_init_attr created{};          ///< attributes of the last ibv_create_qp
  int registered_access = 0;           ///< access flags of the last memory region
  ibv_qp_attr modified{};              ///< attributes and mask of the last ibv_modify_qp
  int modified_mask = 0;

  /// Descriptor of asynchronous events, with a byte for each of `events`.
  int async_fd = -1;
  std::vector<ibv_async_event> events;

  /// The number of live objects of all kinds.
  [[nodiscard]] int total() const {
    int sum = 0;
    for (const auto& [kind, count] : live) sum += count;
    return sum;
  }
};

/// The two machines and their drivers, named "rdma-core" and "soft" so that choose() takes them for these.
machine& real();
machine& software();
const chorale::verbs::driver& real_driver();
const chorale::verbs::driver& software_driver();

/// ::ffff:a.b.c.d with a RoCE v2 type, and an fe80:: row of the given type.
row ipv4_row(std::uint32_t type = IBV_GID_TYPE_ROCE_V2);
row link_local_row(std::uint32_t type);
row empty_row();
/// A row with that IPv6 address.
row row_of(const char* address, std::uint32_t type);
/// A device with one active InfiniBand port, or one active Ethernet port with the usual four GID rows.
device infiniband(const std::string& name);
device roce(const std::string& name);

/// A machine with one InfiniBand device, "fake0".
struct scene {
  scene() { real() = {.devices = {infiniband("fake0")}}; }
  std::vector<const chorale::verbs::driver*> drivers{&real_driver()};
};
/// From now on this entry of the first driver fails.
inline void refuse(const char* entry, int errnum) {
  real().failures[entry] = errnum;
}

}  // namespace fake
