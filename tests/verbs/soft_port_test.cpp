// SPDX-License-Identifier: Apache-2.0
// Ports by profile: which ports reach each other, between processes.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "../../lib/verbs/sender_of.hpp"
#include "soft_profile.hpp"

using namespace soft_test;

namespace {

constexpr std::uint32_t group_qpn = 0xffffff;

/// How another process addresses a QP: by LID, or by the GID in `row` if that is not negative.
struct path_choice {
  int row = -1;
  std::uint16_t pkey_index = 0;
};

struct reachable_qp {
  std::uint32_t qpn = 0;
  std::uint16_t lid = 0;
  ibv_gid gid{};
};

ibv_ah_attr way_to(const reachable_qp& to, const path_choice& by) {
  ibv_ah_attr way{};
  way.port_num = 1;
  way.dlid = to.lid;
  if (by.row >= 0) {
    way.is_global = 1;
    way.grh.dgid = to.gid;
    way.grh.sgid_index = static_cast<std::uint8_t>(by.row);
    way.grh.hop_limit = 64;
  }
  return way;
}

ibv_gid gid_of(const node& n, int row) {
  ibv_gid gid{};
  expect(soft().query_gid(n.context, 1, row, &gid) == 0, "query_gid");
  return gid;
}

/// One of two processes that try to reach each other under different profiles: by a write of a connection, by
/// a datagram, and by a multicast to the other.
class lone_port {
 public:
  lone_port(const std::string& profile, const path_choice& by)
      : set_(profiled(profile)),
        by_(by),
        pair_(make_qp(n_, IBV_QPT_RC, nullptr, 16)),
        datagrams_(make_qp(n_, IBV_QPT_UD, nullptr, 16)) {}
  ~lone_port() {
    if (groups_) soft().detach_mcast(datagrams_, &group_, 0xc000);
    soft().destroy_qp(pair_);
    soft().destroy_qp(datagrams_);
  }
  /// The result: R, D and M for each success; the same in both processes.
  std::string meet(wire& line) {
    const bool ethernet = ethernet_;
    const auto own = std::pair{where(pair_), where(datagrams_)};
    line.send(own);
    const auto other = line.receive<std::pair<reachable_qp, reachable_qp>>();
    connect_rc(n_, pair_, other.first.qpn,
               {.timeout = 10, .pkey_index = by_.pkey_index, .way = way_to(other.first, by_)});
    start_ud(datagrams_, 0x1234, by_.pkey_index);
    expect(soft().attach_mcast(datagrams_, &group_, 0xc000) == 0, "attach_mcast");
    groups_ = true;
    for (std::uint64_t i = 0; i < 4; ++i)
      expect(post_receive(datagrams_, i, {sge(in_, 256 * i, 256)}) == 0, "post_recv");
    line.send(std::pair{in_.address() + 1024, in_.mr->rkey});
    const auto [address, rkey] = line.receive<std::pair<std::uint64_t, std::uint32_t>>();
    line.meet();
    std::string came;
    expect(post(pair_, IBV_WR_RDMA_WRITE, {sge(out_, 0, 8)}, IBV_SEND_SIGNALED, address, rkey) == 0, "write");
    if (wait(n_.send_cq).status == IBV_WC_SUCCESS) came += "R";
    ibv_ah_attr way = way_to(other.second, by_);
    ibv_ah* const ah = soft().create_ah(n_.pd, &way);
    expect(ah != nullptr, "create_ah");
    expect(post_datagram(datagrams_, {sge(out_, 0, 8)}, IBV_SEND_SIGNALED, ah, other.second.qpn) == 0,
           "datagram");
    wait(n_.send_cq);
    line.meet();
    if (take_from(other.second)) came += "D";
    line.meet();
    way.is_global = 1;
    way.grh.dgid = group_;
    way.grh.sgid_index = static_cast<std::uint8_t>(std::max(0, by_.row));
    way.dlid = ethernet ? 0 : 0xc000;
    ibv_ah* const all = soft().create_ah(n_.pd, &way);
    expect(all != nullptr, "create_ah of a group");
    expect(post_datagram(datagrams_, {sge(out_, 0, 8)}, IBV_SEND_SIGNALED, all, group_qpn) == 0, "multicast");
    wait(n_.send_cq);
    line.meet();
    if (take_from(other.second)) came += "M";
    line.meet();
    soft().destroy_ah(ah);
    soft().destroy_ah(all);
    return came;
  }

 private:
  reachable_qp where(const ibv_qp* qp) {
    ibv_port_attr port{};
    soft().query_port(n_.context, 1, &port);
    ethernet_ = port.link_layer == IBV_LINK_LAYER_ETHERNET;
    return {qp->qp_num, port.lid, gid_of(n_, std::max(0, by_.row))};
  }
  /// Whether a datagram of that sender has arrived, with the sender in its GRH: own multicasts come back,
  /// too.
  bool take_from(const reachable_qp& sender) {
    ibv_wc wc{};
    bool found = false;
    while (ibv_poll_cq(n_.recv_cq, 1, &wc) == 1) {
      if (wc.src_qp != sender.qpn) continue;
      found = true;
      if ((wc.wc_flags & IBV_WC_GRH) == 0) continue;
      const auto* const grh = reinterpret_cast<const ibv_grh*>(in_.data + 256 * wc.wr_id);
      const ibv_ah_attr back = chorale::verbs::sender_of(wc, grh, 1);
      expect(std::memcmp(back.grh.dgid.raw, sender.gid.raw, sizeof sender.gid.raw) == 0, "sender_of");
      expect(chorale::verbs::is_from(reinterpret_cast<const std::byte*>(grh), sender.gid), "is_from");
    }
    return found;
  }

  variables set_;
  path_choice by_;
  node n_;
  memory in_{n_, 4096, true};
  memory out_{n_, 4096, true};
  ibv_qp* pair_;
  ibv_qp* datagrams_;
  ibv_gid group_{{0xff, 0x12, 1, 2, 3}};
  bool groups_ = false;
  bool ethernet_ = false;
};

/// Empty if, in both directions, exactly those of a write (R), a datagram (D) and a multicast (M) arrive that
/// `wanted` lists.
std::string between(const std::string& wanted, const std::string& one, const std::string& other,
                    path_choice by_one = {}, path_choice by_other = {}) {
  const auto main_of = [&](const std::string& profile, const path_choice& by) {
    return [=](wire& line) {
      lone_port port(profile, by);
      const std::string came = port.meet(line);
      expect(came == wanted, "came: '" + came + "'");
    };
  };
  return run_pair(main_of(one, by_one), main_of(other, by_other));
}

}  // namespace

TEST_CASE("Members of one partition reach each other, unless both are limited", "[profile]") {
  CHECK(between("RDM", "pkeys=ffff", "pkeys=7fff") == "");
  CHECK(between("", "pkeys=7fff", "pkeys=7fff") == "");
  CHECK(between("", "pkeys=8006", "pkeys=8007") == "");
  CHECK(between("RDM", "pkeys=7fff,8006", "pkeys=8006", {.pkey_index = 1}) == "");
}

TEST_CASE("Ports of another link layer or subnet are not reached", "[profile]") {
  const std::string roce = "link=ethernet,gids=v1/fe80::1,v2/fe80::1,v2/10.0.0.1";
  CHECK(between("RDM", "subnet=fec0::", "subnet=fec0::") == "");
  // Multicasts depend on the link layer and the partition only.
  CHECK(between("M", "subnet=fec0::", "subnet=fe80::") == "");
  CHECK(between("M", "subnet=fec0::", "subnet=fe80::", {.row = 0}, {.row = 0}) == "");
  CHECK(between("RDM", roce, roce, {.row = 2}, {.row = 2}) == "");
  CHECK(between("M", "link=ethernet,gids=v1/fe80::1", "link=ethernet,gids=v2/fe80::1", {.row = 0},
                {.row = 0}) == "");
  // Between subnets RoCE v2 is routed, but not link-local addresses.
  CHECK(between("RDM", roce, roce + ",subnet=fec0::", {.row = 2}, {.row = 2}) == "");
  CHECK(between("M", roce, roce + ",subnet=fec0::", {.row = 1}, {.row = 1}) == "");
  CHECK(between("", roce, "mtu=4096", {.row = 2}, {.row = 0}) == "");
}

TEST_CASE("A path without GRH is refused where the port requires one", "[profile]") {
  for (const std::string text : {"grh=required", "link=ethernet,gids=v2/10.0.0.1"}) {
    const variables set = profiled(text);
    node n;
    CHECK(((port_of(n).flags & IBV_QPF_GRH_REQUIRED) != 0) == (text == "grh=required"));
    ibv_ah_attr way{};
    way.port_num = 1;
    way.dlid = n.lid;
    errno = 0;
    CHECK(soft().create_ah(n.pd, &way) == nullptr);
    CHECK(errno == EINVAL);
    way.is_global = 1;
    way.grh.dgid = gid_of(n, 0);
    ibv_ah* const ah = soft().create_ah(n.pd, &way);
    CHECK(ah != nullptr);
    soft().destroy_ah(ah);
    way.grh.sgid_index = 1;
    CHECK(soft().create_ah(n.pd, &way) == nullptr);
  }
}
