// SPDX-License-Identifier: Apache-2.0
// Addresses, paths, MTUs and completions as text: functions that need no device.
#include "../../lib/verbs/text.hpp"

#include <arpa/inet.h>
#include <set>

#include <catch2/catch.hpp>

#include "support.hpp"

using Catch::Contains;
using namespace chorale::verbs;

namespace {

ibv_gid gid_of(const char* text) {
  ibv_gid gid{};
  REQUIRE(inet_pton(AF_INET6, text, gid.raw) == 1);
  return gid;
}

}  // namespace

TEST_CASE("GIDs") {
  CHECK(to_string(gid_of("fe80::1")) == "fe80::1");
  CHECK(to_string(gid_of("::ffff:10.1.2.3")) == "::ffff:10.1.2.3");
  CHECK(is_zero(ibv_gid{}));
  CHECK_FALSE(is_zero(gid_of("::1")));
  CHECK(is_ipv4_mapped(gid_of("::ffff:10.1.2.3")));
  CHECK_FALSE(is_ipv4_mapped(gid_of("::fffe:a01:203")));
  CHECK_FALSE(is_ipv4_mapped(gid_of("1::ffff:10.1.2.3")));
  CHECK(is_multicast(gid_of("ff12::1")));
  CHECK(is_multicast(gid_of("::ffff:224.0.0.1")));
  CHECK(is_multicast(gid_of("::ffff:239.255.0.1")));
  CHECK_FALSE(is_multicast(gid_of("::ffff:223.0.0.1")));
  CHECK_FALSE(is_multicast(gid_of("::ffff:240.0.0.1")));
  CHECK_FALSE(is_multicast(gid_of("fe80::1")));
}

TEST_CASE("MTUs") {
  CHECK(mtu_bytes(IBV_MTU_256) == 256);
  CHECK(mtu_bytes(IBV_MTU_512) == 512);
  CHECK(mtu_bytes(IBV_MTU_1024) == 1024);
  CHECK(mtu_bytes(IBV_MTU_2048) == 2048);
  CHECK(mtu_bytes(IBV_MTU_4096) == 4096);
  CHECK(mtu_bytes(static_cast<ibv_mtu>(0)) == 0);
  CHECK(mtu_bytes(static_cast<ibv_mtu>(6)) == 0);
  for (const int bytes : {256, 512, 1024, 2048, 4096}) CHECK(mtu_bytes(mtu_from_bytes(bytes)) == bytes);
  for (const int bytes : {0, 128, 1000, 8192, -256})
    CHECK(test::error_of([&] { mtu_from_bytes(bytes); }).code() == chorale::errc::invalid_argument);
}

TEST_CASE("paths carry a GRH on RoCE, between subnets, and to ports without a LID") {
  const local_port infiniband{
      .number = 2, .gid_index = 3, .service_level = 4, .address = {.gid = gid_of("fe80::a"), .lid = 10}};
  const auto near = path_to(infiniband, {.gid = gid_of("fe80::b"), .lid = 11});
  CHECK(near.is_global == 0);
  CHECK(near.dlid == 11);
  CHECK(near.sl == 4);
  CHECK(near.port_num == 2);
  const auto far = path_to(infiniband, {.gid = gid_of("fec0::b"), .lid = 11});
  CHECK(far.is_global == 1);
  CHECK(to_string(far.grh.dgid) == "fec0::b");
  CHECK(far.grh.sgid_index == 3);
  CHECK(far.grh.hop_limit > 1);
  CHECK(path_to(infiniband, {.gid = gid_of("fe80::b"), .lid = 0}).is_global == 1);
  auto roce = infiniband;
  roce.ethernet = true;
  CHECK(path_to(roce, {.gid = gid_of("fe80::b"), .lid = 11}).is_global == 1);
  auto virtualised = infiniband;
  virtualised.global_only = true;
  virtualised.traffic_class = 106;
  CHECK(path_to(virtualised, {.gid = gid_of("fe80::b"), .lid = 11}).is_global == 1);
  CHECK(path_to(virtualised, {.gid = gid_of("fe80::b"), .lid = 11}).dlid == 11);
  CHECK(path_to(virtualised, {.gid = gid_of("fe80::b"), .lid = 11}).grh.traffic_class == 106);
  const auto group = path_to_group(infiniband, gid_of("ff12::7"), 0xc001);
  CHECK(group.is_global == 1);
  CHECK(group.dlid == 0xc001);
  CHECK(to_string(group.grh.dgid) == "ff12::7");
}

TEST_CASE("a port of another subnet of InfiniBand is reached by the LID of its router") {
  const local_port here{.address = {.gid = gid_of("fec0:0:44:1::a"), .lid = 10}};
  const endpoint_address routed{.gid = gid_of("fec0:0:45:2::b"), .lid = 11};
  CHECK(path_to(here, routed).dlid == 0x45);
  CHECK(path_to(here, routed).is_global == 1);
  // In one subnet the prefixes differ in the router's LID.
  const endpoint_address near{.gid = gid_of("fec0:0:46:1::c"), .lid = 12};
  CHECK(path_to(here, near).dlid == 12);
  CHECK(path_to(here, near).is_global == 0);
  CHECK(router_lid(gid_of("fe80:0:45::1")) == 0);
  CHECK(router_lid(gid_of("fec0:1:45::1")) == 0);
}

TEST_CASE("ports that cannot reach each other: the reason, with both ends and the remedy") {
  const endpoint_address ib{
      .gid = gid_of("fe80::a"), .lid = 1, .pkey = 0xffff, .link = IBV_LINK_LAYER_INFINIBAND};
  const auto roce = [](const char* gid, std::uint8_t type) {
    return endpoint_address{
        .gid = gid_of(gid), .pkey = 0xffff, .link = IBV_LINK_LAYER_ETHERNET, .gid_type = type};
  };
  CHECK(why_apart(ib, ib).empty());
  CHECK(why_apart(ib, {}).empty());
  auto other = ib;
  const auto differs = [&](const endpoint_address& from, const endpoint_address& to,
                           std::initializer_list<const char*> words) {
    for (const char* word : words) {
      CHECK_THAT(why_apart(from, to), Contains(word));
      CHECK_THAT(why_apart(to, from), Contains(word));
    }
  };
  SECTION("link layers") {
    differs(ib, roce("::ffff:10.0.0.1", IBV_GID_TYPE_ROCE_V2), {"InfiniBand", "Ethernet", "CHORALE_DEVICE"});
    // A software device does not match either, which is reported elsewhere.
    other.is_soft = 1;
    CHECK(why_apart(other, roce("::ffff:10.0.0.1", IBV_GID_TYPE_ROCE_V2)).empty());
  }
  SECTION("partitions") {
    other.pkey = 0x8006;
    differs(ib, other, {"0xffff", "0x8006", "CHORALE_PKEY"});
    other.pkey = 0x7fff;
    CHECK(why_apart(ib, other).empty());
    CHECK_THAT(why_apart(other, other), Contains("limited members") && Contains("0x7fff"));
  }
  SECTION("subnets") {
    other.gid = gid_of("fe80:0:0:1::a");
    differs(ib, other, {"fe80::/64", "fe80:0:0:1::/64", "CHORALE_DEVICE"});
    auto routed = ib;
    routed.gid = gid_of("fec0:0:45:2::b");
    CHECK(why_apart(other, routed).empty());
    CHECK_THAT(why_apart(routed, other), Contains("no router"));
  }
  SECTION("RoCE versions and families") {
    const auto v4 = roce("::ffff:10.0.0.1", IBV_GID_TYPE_ROCE_V2);
    CHECK(why_apart(v4, roce("::ffff:10.9.0.1", IBV_GID_TYPE_ROCE_V2)).empty());
    differs(v4, roce("::ffff:10.0.0.2", IBV_GID_TYPE_ROCE_V1), {"RoCE v1", "RoCE v2", "CHORALE_GID_INDEX"});
    differs(v4, roce("2001:db8::1", IBV_GID_TYPE_ROCE_V2), {"::ffff:10.0.0.1", "2001:db8::1"});
  }
}

TEST_CASE("completions in words") {
  ibv_wc failed{};
  failed.wr_id = 0x2a;
  failed.status = IBV_WC_REM_ACCESS_ERR;
  failed.opcode = IBV_WC_RECV;  // undefined in a failed completion, so it must be ignored
  failed.qp_num = 0x12;
  failed.vendor_err = 0x99;
  CHECK_THAT(describe(failed, "RDMA write"),
             Contains("RDMA write on QP 0x12: remote access error (REM_ACCESS_ERR), vendor 0x99; ") &&
                 Contains("rkey"));
  CHECK_THAT(describe(failed), Contains("work request 0x2a on QP 0x12") && !Contains("receive"));
  ibv_wc good{};
  good.opcode = IBV_WC_RDMA_READ;
  good.qp_num = 7;
  CHECK(describe(good) == "RDMA read on QP 0x7: success (SUCCESS)");

  std::set<std::string_view> names;
  for (int status = IBV_WC_SUCCESS; status <= IBV_WC_TM_RNDV_INCOMPLETE; ++status) {
    names.insert(to_string(static_cast<ibv_wc_status>(status)));
    CHECK(remedy(static_cast<ibv_wc_status>(status)).empty() == (status == IBV_WC_SUCCESS));
  }
  CHECK(names.size() == 24);
  CHECK(to_string(IBV_WC_RNR_RETRY_EXC_ERR) == "RNR_RETRY_EXC_ERR");
  CHECK(to_string(IBV_WC_GENERAL_ERR) == "GENERAL_ERR");
  CHECK(to_string(static_cast<ibv_wc_status>(24)) == "?");
  CHECK_THAT(describe([] {
               ibv_wc strange{};
               strange.status = static_cast<ibv_wc_status>(31);
               return strange;
             }()),
             Contains("failed (?)"));
}

TEST_CASE("names of enumerations") {
  CHECK(to_string(IBV_QPS_RTS) == "RTS");
  CHECK(to_string(IBV_QPS_SQE) == "SQE");
  CHECK(to_string(IBV_QPS_UNKNOWN) == "?");
  CHECK(to_string(IBV_QPT_UD) == "UD");
  CHECK(to_string(IBV_QPT_XRC_SEND) == "?");
  CHECK(to_string(IBV_PORT_ACTIVE) == "ACTIVE");
  CHECK(to_string(IBV_PORT_DOWN) == "DOWN");
  CHECK(to_string(IBV_EVENT_SRQ_LIMIT_REACHED) == "SRQ_LIMIT_REACHED");
  CHECK(to_string(IBV_EVENT_DEVICE_FATAL) == "DEVICE_FATAL");
  CHECK(link_layer_name(IBV_LINK_LAYER_ETHERNET) == "Ethernet");
  CHECK(gid_type_name(IBV_GID_TYPE_ROCE_V2) == "RoCE v2");
}
