// SPDX-License-Identifier: Apache-2.0
// Multicast groups that the connection manager requests from the fabric.
#include "../../lib/verbs/managed_membership.hpp"

#include <chrono>
#include <cstring>
#include <string>

#include <catch2/catch.hpp>

#include <chorale/verbs/address_handle.hpp>

#include "../../lib/verbs/multicast_membership.hpp"
#include "fake_driver.hpp"
#include "scratch.hpp"
#include "support.hpp"

#if __has_include(<rdma/rdma_cma.h>)
#include <deque>
#include <dlfcn.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <unistd.h>
#endif

using Catch::Contains;
using chorale::errc;
using namespace chorale::verbs;
using namespace std::chrono_literals;
using test::error_of;

namespace {

/// ::ffff:239.9.9.9
ibv_gid ipv4_group() {
  ibv_gid group{};
  group.raw[10] = group.raw[11] = 0xff;
  group.raw[12] = 239;
  group.raw[13] = group.raw[14] = group.raw[15] = 9;
  return group;
}

}  // namespace

TEST_CASE("the IPoIB interface of a port") {
  const test::scratch here;
  const auto interface = [&](const std::string& name, const char* dev_port, const char* dev_id,
                             const char* pkey) {
    const std::string folder = "class/infiniband/mlx5_0/device/net/" + name;
    here.write(folder + "/dev_port", dev_port);
    here.write(folder + "/dev_id", dev_id);
    if (*pkey != '\0') here.write(folder + "/pkey", pkey);
  };
  const auto found = [&](int port, int row) {
    return ipoib_interface(here.path, "mlx5_0", static_cast<std::uint8_t>(port),
                           static_cast<std::uint16_t>(row));
  };
  CHECK(found(1, 0).empty());  // no such adapter
  here.write("class/infiniband/mlx5_0/ports/1/pkeys/0", "0xffff\n");
  here.write("class/infiniband/mlx5_0/ports/1/pkeys/1", "0x8001\n");
  here.write("class/infiniband/mlx5_0/ports/2/pkeys/0", "0xffff\n");
  CHECK(found(1, 0).empty());  // no interface
  interface("eth0", "0\n", "0x0\n", "");
  CHECK(found(1, 0).empty());  // not IPoIB
  interface("ib0", "0\n", "0x0\n", "0xffff\n");
  interface("ib0.8001", "0\n", "0x0\n", "0x0001\n");
  interface("ib1", "1\n", "0x0\n", "0xffff\n");
  interface("ib2", "0\n", "0x2\n", "0x7fff\n");
  CHECK(found(1, 0) == "ib0");
  CHECK(found(1, 1) == "ib0.8001");  // a limited member of the same partition
  CHECK(found(2, 0) == "ib1");
  CHECK(found(3, 0) == "ib2");  // port numbers as of older drivers; the row of the table cannot be read
  CHECK(found(4, 0).empty());
}

TEST_CASE("groups that the subnet administrator creates") {
  CHECK(to_string(of_subnet_administrator(0x01020304)) == "ff12:a01b::102:304");
  CHECK(is_multicast(of_subnet_administrator(0)));
}

TEST_CASE("ports for which the connection manager cannot join a group", "[fake]") {
  fake::real() = {.devices = {fake::infiniband("ib0"), fake::roce("roce0")}};
  const auto refusal = [](const std::string& name, const ibv_gid& gid, const ibv_gid& group) {
    const driver* const drivers[]{&fake::real_driver()};
    const device owner = device::open(name, drivers);
    local_port port{.ethernet = name == "roce0", .address = {.gid = gid}};
    return error_of([&] { managed_membership{owner, port, 0, group, 100ms}; });
  };
  const auto infiniband = refusal("ib0", ibv_gid{}, of_subnet_administrator(7));
  CHECK(infiniband.code() == errc::unsupported);
  const auto version_6 = refusal("roce0", of_subnet_administrator(1), ipv4_group());
  CHECK(version_6.code() == errc::unsupported);
  CHECK_THAT(version_6.what(), Contains("::ffff:239.9.9.9 on port 1 of roce0"));
  if (managed_membership::is_built()) {
    CHECK_THAT(infiniband.what(), Contains("ff12:a01b::7 on port 1 of ib0") && Contains("IPoIB"));
    CHECK_THAT(version_6.what(), Contains("CHORALE_GID_INDEX"));
    // An address of no machine: the kernel has no connection manager, or does not know the address.
    ibv_gid nobody = ipv4_group();
    nobody.raw[12] = 192;
    nobody.raw[13] = 0;
    nobody.raw[14] = 2;
    CHECK_THAT(refusal("roce0", nobody, ipv4_group()).what(),
               Contains("group ::ffff:239.9.9.9") &&
                   (Contains("rdma_create_event_channel") || Contains("rdma_bind_addr")));
  } else {
    CHECK_THAT(infiniband.what(), Contains("librdmacm-dev"));
  }
}

TEST_CASE("a port joins a group through the connection manager, and leaves it", "[device]") {
  test::rig rig;
  if (rig.device.is_soft()) return test::skip("soft0 has no connection manager");
  if (!managed_membership::is_built()) return test::skip("built without librdmacm");
  if (!is_ipv4_mapped(rig.port.address.gid)) return test::skip("the port has no IPv4 address");
  for (int round = 0; round < 2; ++round) {
    const managed_membership joined{rig.device, rig.port, 0, ipv4_group(), 10s};
    CHECK(is_multicast(joined.group()));
    CHECK(joined.lid() == 0);
    queue_pair member = rig.datagram_pair();
    const multicast_membership attached{member, joined.group(), joined.lid()};
    const address_handle way{rig.domain, path_to_group(rig.port, joined.group(), joined.lid())};
    constexpr std::uint32_t grh = 40;
    constexpr std::uint32_t bytes = 64;
    ibv_sge place = rig.piece(0, grh + bytes);
    ibv_recv_wr receive{};
    receive.wr_id = 1;
    receive.sg_list = &place;
    receive.num_sge = 1;
    member.post_recv(receive);
    std::memset(rig.buffer.data() + 4096, 40 + round, bytes);
    ibv_sge source = rig.piece(4096, bytes);
    ibv_send_wr send = test::request(IBV_WR_SEND, source);
    send.wr_id = 2;
    send.wr.ud.ah = way.native();
    send.wr.ud.remote_qpn = 0xffffff;
    send.wr.ud.remote_qkey = test::qkey;
    member.post_send(send);
    // The sender's own datagram comes back, as to each member.
    bool received = false;
    for (int i = 0; i < 2; ++i) {
      const ibv_wc wc = test::next_completion(rig.queue);
      CHECK(wc.status == IBV_WC_SUCCESS);
      received = received || wc.wr_id == 1;
    }
    CHECK(received);
    CHECK(rig.buffer.data()[grh + bytes - 1] == static_cast<std::byte>(40 + round));
  }
}

#if __has_include(<rdma/rdma_cma.h>)

namespace {

/// A fake connection manager. The library calls the system's while there is none.
struct made_up_manager {
  explicit made_up_manager(const device& owner) {
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    identifier.verbs = owner.native();
    identifier.port_num = 1;
    channel.fd = ends[0];
    current = this;
  }
  ~made_up_manager() {
    current = nullptr;
    close(ends[0]);
    close(ends[1]);
  }
  void tell(rdma_cm_event_type what, int status = 0) {
    rdma_cm_event event{};
    event.event = what;
    event.status = status;
    event.param.ud.ah_attr.grh.dgid = ipv4_group();
    events.push_back(event);
    REQUIRE(write(ends[1], "!", 1) == 1);
  }

  static made_up_manager* current;
  int ends[2]{};
  rdma_event_channel channel{};
  rdma_cm_id identifier{};
  std::deque<rdma_cm_event> events;
};
made_up_manager* made_up_manager::current = nullptr;

template <class Function>
auto in_the_system(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Replaces librdmacm's functions, for the library too.
#define MADE_UP extern "C" __attribute__((visibility("default")))
MADE_UP rdma_event_channel* rdma_create_event_channel() {
  if (auto* made = made_up_manager::current) return &made->channel;
  return in_the_system(&rdma_create_event_channel, "rdma_create_event_channel")();
}
MADE_UP void rdma_destroy_event_channel(rdma_event_channel* channel) {
  if (made_up_manager::current == nullptr)
    in_the_system(&rdma_destroy_event_channel, "rdma_destroy_event_channel")(channel);
}
MADE_UP int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                           rdma_port_space space) {
  auto* made = made_up_manager::current;
  if (made == nullptr) return in_the_system(&rdma_create_id, "rdma_create_id")(channel, id, context, space);
  *id = &made->identifier;
  return 0;
}
MADE_UP int rdma_destroy_id(rdma_cm_id* id) {
  return made_up_manager::current != nullptr ? 0 : in_the_system(&rdma_destroy_id, "rdma_destroy_id")(id);
}
MADE_UP int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
  return made_up_manager::current != nullptr ? 0
                                             : in_the_system(&rdma_bind_addr, "rdma_bind_addr")(id, address);
}
MADE_UP int rdma_join_multicast(rdma_cm_id* id, sockaddr* address, void* context) {
  auto* made = made_up_manager::current;
  if (made == nullptr)
    return in_the_system(&rdma_join_multicast, "rdma_join_multicast")(id, address, context);
  made->tell(RDMA_CM_EVENT_MULTICAST_JOIN);
  return 0;
}
MADE_UP int rdma_leave_multicast(rdma_cm_id* id, sockaddr* address) {
  return made_up_manager::current != nullptr
             ? 0
             : in_the_system(&rdma_leave_multicast, "rdma_leave_multicast")(id, address);
}
MADE_UP int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  auto* made = made_up_manager::current;
  if (made == nullptr) return in_the_system(&rdma_get_cm_event, "rdma_get_cm_event")(channel, event);
  char one = 0;
  if (read(made->ends[0], &one, 1) != 1) return -1;
  *event = &made->events.front();
  return 0;
}
MADE_UP int rdma_ack_cm_event(rdma_cm_event* event) {
  auto* made = made_up_manager::current;
  if (made == nullptr) return in_the_system(&rdma_ack_cm_event, "rdma_ack_cm_event")(event);
  made->events.pop_front();
  return 0;
}

TEST_CASE("a receiver that misses datagrams of a group learns that the fabric has ended the membership",
          "[fake]") {
  if (!managed_membership::is_built()) return test::skip("built without librdmacm");
  if (dlsym(RTLD_DEFAULT, "rdma_join_multicast") != reinterpret_cast<void*>(&rdma_join_multicast))
    return test::skip("a sanitizer keeps the program's functions from taking the place of librdmacm's");
  fake::real() = {.devices = {fake::roce("roce0")}};
  const driver* const drivers[]{&fake::real_driver()};
  const device owner = device::open("roce0", drivers);
  made_up_manager manager{owner};
  const local_port port{.ethernet = true, .address = {.gid = fake::ipv4_row().gid}};
  managed_membership joined{owner, port, 0, ipv4_group(), 10s};
  CHECK_NOTHROW(joined.look());
  manager.tell(RDMA_CM_EVENT_ADDR_CHANGE);
  CHECK_NOTHROW(joined.look());
  manager.tell(RDMA_CM_EVENT_MULTICAST_ERROR, -ENETUNREACH);
  for (int i = 0; i < 2; ++i) {
    const auto e = error_of([&] { joined.look(); });
    CHECK(e.code() == std::errc::network_unreachable);
    CHECK_THAT(e.what(), Contains("group ::ffff:239.9.9.9 on port 1 of roce0") &&
                             Contains("RDMA_CM_EVENT_MULTICAST_ERROR") &&
                             Contains("make a new communicator"));
  }
  CHECK(manager.events.empty());
}

#endif
