// SPDX-License-Identifier: Apache-2.0
// choose(): device, port, GID and MTU; every setting that does not fit, and the remarks. See also
// several_adapters_test.cpp.
#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/verbs/selection.hpp>

#include "../../lib/verbs/diagnosis.hpp"
#include "fake_driver.hpp"
#include "selection_scene.hpp"
#include "support.hpp"

using Catch::Contains;
using chorale::config;
using chorale::errc;
using namespace chorale::verbs;
using fake::down;
using scene = fake::selection_scene;
using test::error_of;

namespace {

/// Exactly one of the remarks contains all the words.
void check_remark(const device_choice& c, std::initializer_list<const char*> words) {
  const auto matching = std::count_if(c.remarks.begin(), c.remarks.end(), [&](const std::string& r) {
    return std::all_of(words.begin(), words.end(),
                       [&](const char* w) { return r.find(w) != std::string::npos; });
  });
  for (const auto& r : c.remarks) UNSCOPED_INFO("remark: " << r);
  CHECK(matching == 1);
}

}  // namespace

TEST_CASE("the first real device with an active port, else the software device", "[fake]") {
  SECTION("real device") {
    const scene here({fake::infiniband("ib0"), fake::roce("roce0")});
    const device_choice c = here.pick();
    CHECK(c.device.name == "ib0");
    CHECK(c.device.provider == &fake::real_driver());
    CHECK(c.port == 1);
    CHECK(c.gid_index == 0);
    CHECK(c.mtu_bytes == 4096);
    CHECK_THAT(c.why, Contains("ib0") && Contains("of 2 RDMA devices") && Contains("InfiniBand"));
  }
  SECTION("ports down are passed over, with a remark") {
    const scene here(
        {down(fake::infiniband("ib0"), IBV_PORT_INIT), down(fake::roce("roce0")), fake::roce("roce1")});
    const device_choice c = here.pick();
    CHECK(c.device.name == "roce1");
    check_remark(c, {"ib0", "INIT", "subnet manager"});
    check_remark(c, {"roce0", "DOWN", "ip link set"});
  }
  SECTION("iWARP is passed over") {
    auto siw = fake::roce("siw0");
    siw.transport = IBV_TRANSPORT_IWARP;
    const scene here({siw});
    const device_choice c = here.pick();
    CHECK(c.device.name == "soft0");
    check_remark(c, {"siw0", "neither InfiniBand nor RoCE"});
    CHECK(here.refusal({.device = "siw0"}).code() == errc::unsupported);
  }
  SECTION("a device that may not be opened is passed over, with the remedy") {
    auto locked = fake::infiniband("ib0");
    locked.open_errno = EACCES;
    const scene here({locked});
    const device_choice c = here.pick();
    CHECK(c.device.name == "soft0");
    CHECK_THAT(c.why, Contains("of 1 RDMA device(s)"));
    check_remark(c, {"ib0", "/dev/infiniband/uverbs0", "Permission denied"});
    CHECK(here.refusal({.device = "ib0"}).code().value() == EACCES);
  }
  SECTION("no real device") {
    const scene here({});
    const device_choice c = here.pick();
    CHECK(c.device.name == "soft0");
    CHECK(c.device.provider == &fake::software_driver());
    CHECK_THAT(c.why, Contains("no RDMA device"));
    CHECK(c.remarks.empty());
  }
  SECTION("listing not permitted") {
    const scene here({});
    fake::real().list_errno = EPERM;
    check_remark(here.pick(), {"rdma-core", "Operation not permitted"});
  }
  SECTION("nothing at all") {
    const scene here({down(fake::infiniband("ib0"))});
    fake::software() = {};
    const auto e = here.refusal({});
    CHECK(e.code() == errc::no_device);
    CHECK_THAT(e.what(), Contains("ib0 is DOWN"));
  }
}

TEST_CASE("a device by name", "[fake]") {
  const scene here({fake::infiniband("ib0"), fake::roce("roce0"), down(fake::roce("roce1"))});
  CHECK(here.pick({.device = "roce0"}).device.name == "roce0");
  CHECK_THAT(here.pick({.device = "roce0"}).why, Contains("by name"));
  CHECK(here.pick({.device = "soft0"}).device.provider == &fake::software_driver());
  const auto unknown = here.refusal({.device = "mlx5_0"});
  CHECK(unknown.code() == errc::no_device);
  CHECK_THAT(unknown.what(), Contains("ib0, roce0, roce1, soft0"));
  const auto inactive = here.refusal({.device = "roce1"});
  CHECK(inactive.code() == errc::no_device);
  CHECK_THAT(inactive.what(), Contains("port 1 of roce1 is DOWN") && Contains("ip link set"));
}

TEST_CASE("ports", "[fake]") {
  auto two = fake::infiniband("ib0");
  two.ports.push_back(two.ports[0]);
  two.ports[0].state = IBV_PORT_DOWN;
  two.ports[1].active_mtu = IBV_MTU_2048;
  const scene here({fake::infiniband("small0"), two});
  const device_choice c = here.pick({.port = 2});
  CHECK(c.device.name == "ib0");
  CHECK(c.port == 2);
  CHECK(c.mtu_bytes == 2048);
  check_remark(c, {"small0", "port 2", "1 to 1"});
  const auto e = here.refusal({.device = "ib0", .port = 3});
  CHECK(e.code() == errc::invalid_argument);
  CHECK_THAT(e.what(), Contains("port 3 of ib0") && Contains("1 to 2") && Contains("CHORALE_PORT"));
  two.ports[0].state = IBV_PORT_ACTIVE_DEFER;
  fake::real().devices = {two};
  CHECK(here.pick().device.name == "ib0");
}

TEST_CASE("GID rows", "[fake]") {
  const scene here({fake::roce("roce0"), down(fake::infiniband("ib0"))});
  auto& rows = fake::real().devices[0].ports[0].gids;
  SECTION("RoCE: first RoCE v2 row with an IPv4 address") {
    CHECK(here.pick().gid_index == 3);
    CHECK(here.pick().remarks.size() == 1);  // that ib0 is down
    std::swap(rows[0], rows[3]);
    CHECK(here.pick().gid_index == 0);
  }
  SECTION("RoCE without IPv4: first RoCE v2 row, with a remark") {
    rows.resize(2);
    const device_choice c = here.pick();
    CHECK(c.gid_index == 1);
    check_remark(c, {"roce0", "row 1", "fe80::1", "RoCE v2", "IPv4 address"});
  }
  SECTION("RoCE v1 only") {
    rows.resize(1);
    const device_choice c = here.pick();
    CHECK(c.gid_index == 0);
    check_remark(c, {"RoCE v1"});
  }
  SECTION("no row at all") {
    rows = {fake::empty_row()};
    const auto e = here.refusal({.device = "roce0"});
    CHECK(e.code() == errc::no_device);
    CHECK_THAT(e.what(), Contains("no GID") && Contains("container"));
    check_remark(here.pick({}), {"roce0 cannot be used", "no GID"});
    CHECK(here.pick({}).device.name == "soft0");
  }
  SECTION("RoCE with IPv6 only: the row that is routed") {
    rows[2] = fake::row_of("2001:db8::7", IBV_GID_TYPE_ROCE_V1);
    rows[3] = fake::row_of("2001:db8::7", IBV_GID_TYPE_ROCE_V2);
    const device_choice c = here.pick();
    CHECK(c.gid_index == 3);
    check_remark(c, {"row 3", "2001:db8::7", "RoCE v2"});
  }
  SECTION("InfiniBand: the row whose GID names its router") {
    fake::real().devices[1].ports[0].state = IBV_PORT_ACTIVE;
    fake::real().devices[1].ports[0].gids.push_back(fake::row_of("fec0:0:45:2::7", IBV_GID_TYPE_IB));
    CHECK(here.pick({.device = "ib0"}).gid_index == 1);
  }
  SECTION("a row that says it is used but is zero counts as empty") {
    rows = {fake::empty_row(), fake::ipv4_row()};
    rows[0].used = true;
    rows[0].type = IBV_GID_TYPE_ROCE_V2;
    CHECK(here.pick().gid_index == 1);
  }
  SECTION("asked for") {
    CHECK(here.pick({.gid_index = 1}).gid_index == 1);
    CHECK(here.pick({.gid_index = 1}).remarks.size() == 1);
    check_remark(here.pick({.gid_index = 2}), {"GID index 2", "RoCE v1"});
    const auto outside = here.refusal({.device = "roce0", .gid_index = 5});
    CHECK(outside.code() == errc::invalid_argument);
    CHECK_THAT(outside.what(),
               Contains("GID index 5") && Contains("5 row(s)") && Contains("CHORALE_GID_INDEX"));
    const auto empty = here.refusal({.device = "roce0", .gid_index = 4});
    CHECK(empty.code() == errc::invalid_argument);
    CHECK_THAT(empty.what(), Contains("is empty") && Contains("3 ::ffff:10.0.0.1 (RoCE v2)") &&
                                 Contains("0 fe80::1 (RoCE v1)"));
    CHECK_THAT(here.refusal({.gid_index = -1}).what(), Contains("gid_index"));
  }
  SECTION("InfiniBand: row 0") {
    fake::real().devices[1].ports[0].state = IBV_PORT_ACTIVE;
    CHECK(here.pick({.device = "ib0"}).gid_index == 0);
  }
}

TEST_CASE("partition keys", "[fake]") {
  const scene here({fake::infiniband("ib0")});
  auto& keys = fake::real().devices[0].ports[0].pkeys;
  const config by_name{.device = "ib0"};
  const auto at_index = [&](std::uint16_t index) {
    config c = by_name;
    c.pkey_index = index;
    return c;
  };
  const auto by_key = [&](std::uint16_t key) {
    config c = by_name;
    c.pkey = key;
    return c;
  };
  SECTION("by index") {
    keys = {0xffff, 0x0000, 0x0005, 0x8000};
    CHECK(here.pick().remarks.empty());
    check_remark(here.pick(at_index(2)), {"limited member", "0x0005"});
    for (const std::uint16_t empty : {std::uint16_t{1}, std::uint16_t{3}}) {
      const auto e = here.refusal(at_index(empty));
      CHECK(e.code() == errc::invalid_argument);
      CHECK_THAT(e.what(), Contains("is empty") && Contains("CHORALE_PKEY_INDEX"));
    }
    const auto outside = here.refusal(at_index(4));
    CHECK(outside.code() == errc::invalid_argument);
    CHECK_THAT(outside.what(), Contains("PKey index 4") && Contains("4 row(s)"));
  }
  SECTION("the first full membership, else the first of all") {
    keys = {0x7fff, 0x0000, 0x8006, 0x8007};
    CHECK(here.pick().pkey_index == 2);
    CHECK(here.pick().remarks.empty());
    keys = {0x0000, 0x0006, 0x7fff};
    CHECK(here.pick().pkey_index == 1);
    check_remark(here.pick(), {"limited member", "0x0006"});
    keys = {0x0000};
    CHECK_THAT(here.refusal(by_name).what(), Contains("is empty"));
    CHECK(here.pick().device.name == "soft0");
  }
  SECTION("by key, wherever it stands") {
    keys = {0x7fff, 0x0006, 0x8006, 0x0007};
    for (const std::uint16_t key : {std::uint16_t{6}, std::uint16_t{0x8006}})
      CHECK(here.pick(by_key(key)).pkey_index == 2);
    CHECK(here.pick(by_key(7)).pkey_index == 3);
    const auto e = here.refusal(by_key(9));
    CHECK(e.code() == errc::invalid_argument);
    CHECK_THAT(e.what(), Contains("no partition 0x0009") && Contains("0x7fff, 0x0006, 0x8006, 0x0007") &&
                             Contains("CHORALE_PKEY"));
  }
}

TEST_CASE("a device without datagrams, which all transports need, is passed over, with a remark", "[fake]") {
  const scene here({fake::infiniband("ib0"), fake::roce("roce0")});
  auto& best = fake::real().devices[0];
  const auto pick = [&](const config& c = {}) { return choose(c, here.drivers); };
  CHECK(pick().device.name == "ib0");
  best.datagrams = false;
  CHECK(pick().device.name == "roce0");
  check_remark(pick(), {"ib0", "no datagrams (UD)"});
  const auto e = error_of([&] { static_cast<void>(pick({.device = "ib0"})); });
  CHECK(e.code() == errc::unsupported);
  CHECK_THAT(e.what(), Contains("UD") && Contains("CHORALE_DEVICE"));
  // A lack of resources on this host does not rule the device out.
  fake::real().failures["create_qp"] = ENOMEM;
  CHECK(error_of([&] { static_cast<void>(pick({.device = "roce0"})); }).code() ==
        std::errc::not_enough_memory);
  fake::real().failures.clear();
  fake::real().devices[1].datagrams = false;
  CHECK(pick().device.name == "soft0");
  CHECK_THAT(pick().why, Contains("of 2 RDMA device(s)"));
}

TEST_CASE("MTU", "[fake]") {
  const scene here({fake::roce("roce0")});
  CHECK(here.pick().mtu_bytes == 1024);
  CHECK(here.pick({.mtu = 512}).mtu_bytes == 512);
  CHECK(here.pick({.mtu = 1024}).mtu_bytes == 1024);
  const auto e = here.refusal({.device = "roce0", .mtu = 2048});
  CHECK(e.code() == errc::invalid_argument);
  CHECK_THAT(e.what(), Contains("2048 bytes") && Contains("1024 bytes") && Contains("CHORALE_MTU") &&
                           Contains("network interface"));
  CHECK_THAT(here.refusal({.mtu = 1000}).what(), Contains("config::mtu"));
  fake::real().devices[0].ports[0].active_mtu = static_cast<ibv_mtu>(0);
  CHECK(here.refusal({.device = "roce0"}).code() == errc::unsupported);
}
