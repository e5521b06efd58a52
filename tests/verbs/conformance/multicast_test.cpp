// SPDX-License-Identifier: Apache-2.0
// Multicast: every attached queue pair of the group gets every datagram, including the sender's own.
#include <algorithm>
#include <arpa/inet.h>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../../lib/verbs/multicast_membership.hpp"
#include "child.hpp"
#include "datagram.hpp"

using namespace conformance;

namespace {

/// Group `n`, with addresses like the port's: IPv4 on RoCE with IPv4, else IPv6. On RoCE the interface is a
/// member for the lifetime of this object: attaching steers only packets that reach the port.
class group {
 public:
  group(const rig& r, unsigned n) {
    const bool ipv4 = is_ipv4_mapped(r.port.address.gid);
    const std::string text = ipv4 ? "::ffff:239.77.1." + std::to_string(n) : "ff12::c0:" + std::to_string(n);
    REQUIRE(inet_pton(AF_INET6, text.c_str(), gid.raw) == 1);
    lid = r.port.ethernet ? std::uint16_t{0} : static_cast<std::uint16_t>(0xc000 + n);
    if (r.port.ethernet) join(r, ipv4);
  }
  group(const group&) = delete;
  group& operator=(const group&) = delete;
  ~group() {
    if (socket_ >= 0) close(socket_);
  }

  ibv_gid gid{};
  std::uint16_t lid = 0;

 private:
  void join(const rig& r, bool ipv4) {
    std::ifstream file("/sys/class/infiniband/" + test::device_name() + "/ports/" +
                       std::to_string(r.port.number) + "/gid_attrs/ndevs/" +
                       std::to_string(r.choice.gid_index));
    std::string interface;
    file >> interface;
    const unsigned index = if_nametoindex(interface.c_str());
    socket_ = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    REQUIRE(index != 0);
    if (ipv4) {
      ip_mreqn wanted{};
      std::memcpy(&wanted.imr_multiaddr, gid.raw + 12, 4);
      wanted.imr_ifindex = static_cast<int>(index);
      REQUIRE(setsockopt(socket_, IPPROTO_IP, IP_ADD_MEMBERSHIP, &wanted, sizeof wanted) == 0);
    } else {
      ipv6_mreq wanted{};
      std::memcpy(&wanted.ipv6mr_multiaddr, gid.raw, 16);
      wanted.ipv6mr_interface = index;
      REQUIRE(setsockopt(socket_, IPPROTO_IPV6, IPV6_JOIN_GROUP, &wanted, sizeof wanted) == 0);
    }
  }
  int socket_ = -1;
};

constexpr std::uint32_t all_members = 0xffffff;

void send_to(rig& r, queue_pair& from, const group& g, std::uint64_t value) {
  const address_handle way(r.domain, path_to_group(r.port, g.gid, g.lid));
  std::memcpy(r.buffer.data(), &value, sizeof value);
  send_datagram(r, from, way, all_members, 0, sizeof value);
}

/// The number in the next datagram.
std::uint64_t value_of(receiver& at) {
  const ibv_wc got = good(at.queue);
  CHECK(got.byte_len == grh_bytes + 8);
  CHECK((got.wc_flags & IBV_WC_GRH) != 0);
  std::uint64_t value = 0;
  std::memcpy(&value, at.slot(got.wr_id) + grh_bytes, sizeof value);
  at.post(got.wr_id);
  return value;
}

}  // namespace

TEST_CASE("a group's datagrams reach each member once, including the sender, and no other queue pair",
          "[multicast]") {
  rig r;
  const group g(r, 1);
  receiver sender(r), member(r), outsider(r);
  for (receiver* one : {&sender, &member, &outsider})
    for (std::uint64_t id = 0; id < 4; ++id) one->post(id);
  multicast_membership own(sender.pair, g.gid, g.lid);
  multicast_membership other(member.pair, g.gid, g.lid);
  send_to(r, sender.pair, g, 1);
  CHECK(value_of(sender) == 1);
  CHECK(value_of(member) == 1);
  send_to(r, outsider.pair, g, 2);  // the sender need not be a member
  CHECK(value_of(sender) == 2);
  CHECK(value_of(member) == 2);
  CHECK(test::stays_empty(outsider.queue, quiet));
  other.close();
  send_to(r, sender.pair, g, 3);
  CHECK(value_of(sender) == 3);
  CHECK(test::stays_empty(member.queue, quiet));
  CHECK(test::stays_empty(sender.queue, 1ms));
}

TEST_CASE("many groups with many members do not mix", "[multicast]") {
  rig r;
  constexpr unsigned groups = 6;
  constexpr unsigned members = 5;
  std::vector<std::unique_ptr<group>> all;
  std::vector<std::unique_ptr<receiver>> pairs;
  for (unsigned n = 0; n < groups; ++n) all.push_back(std::make_unique<group>(r, 10 + n));
  std::vector<multicast_membership> held;
  const auto is_member = [](unsigned m, unsigned n) { return (m + n) % 3 != 0 || m == n; };
  for (unsigned m = 0; m < members; ++m) {
    pairs.push_back(std::make_unique<receiver>(r));
    for (std::uint64_t id = 0; id < 16; ++id) pairs.back()->post(id);
    for (unsigned n = 0; n < groups; ++n)
      if (is_member(m, n)) held.emplace_back(pairs.back()->pair, all[n]->gid, all[n]->lid);
  }
  for (unsigned n = 0; n < groups; ++n) send_to(r, pairs[n % members]->pair, *all[n], n);
  for (unsigned m = 0; m < members; ++m) {
    INFO("member " << m);
    std::vector<std::uint64_t> expected, got;
    for (unsigned n = 0; n < groups; ++n)
      if (is_member(m, n)) expected.push_back(n);
    for (std::size_t i = 0; i < expected.size(); ++i) got.push_back(value_of(*pairs[m]));
    std::sort(got.begin(), got.end());  // datagrams may overtake each other
    CHECK(got == expected);
    CHECK(test::stays_empty(pairs[m]->queue, 1ms));
  }
  held.clear();
}

TEST_CASE("attaching twice is attaching once", "[multicast]") {
  rig r;
  const group g(r, 2);
  receiver member(r);
  for (std::uint64_t id = 0; id < 4; ++id) member.post(id);
  const driver& provider = member.pair.provider();
  REQUIRE(provider.attach_mcast(member.pair.native(), &g.gid, g.lid) == 0);
  CHECK(provider.attach_mcast(member.pair.native(), &g.gid, g.lid) == 0);
  send_to(r, member.pair, g, 4);
  CHECK(value_of(member) == 4);
  CHECK(test::stays_empty(member.queue, quiet));  // one copy
  CHECK(provider.detach_mcast(member.pair.native(), &g.gid, g.lid) == 0);
  CHECK(errno_of(provider.detach_mcast(member.pair.native(), &g.gid, g.lid)) == EINVAL);
  send_to(r, member.pair, g, 5);
  CHECK(test::stays_empty(member.queue, quiet));
}

TEST_CASE("keys, receives and types hold for groups too", "[multicast]") {
  rig r;
  const group g(r, 3);
  receiver member(r), empty(r), sender(r);
  multicast_membership first(member.pair, g.gid, g.lid);
  multicast_membership second(empty.pair, g.gid, g.lid);  // without a receive: loses only its own copy
  member.post(0);
  const address_handle way(r.domain, path_to_group(r.port, g.gid, g.lid));
  send_datagram(r, sender.pair, way, all_members, 0, 8, test::qkey + 1);
  CHECK(test::stays_empty(member.queue, quiet));
  send_to(r, sender.pair, g, 6);
  CHECK(value_of(member) == 6);
  CHECK(test::stays_empty(empty.queue, 1ms));

  queue_pair connected(r.domain, r.options(IBV_QPT_RC));
  CHECK(errno_of(connected.provider().attach_mcast(connected.native(), &g.gid, g.lid)) == EINVAL);
  CHECK(errno_of(member.pair.provider().attach_mcast(member.pair.native(), &r.port.address.gid, 0)) != 0);
}

TEST_CASE("a queue pair that is a member stays, and leaves with its process", "[multicast]") {
  rig r;
  const group g(r, 4);
  receiver member(r);
  multicast_membership own(member.pair, g.gid, g.lid);
  conforms(
      "destroying a queue pair that is attached to a group",
      [&] {
        try {
          member.pair.close();
          return 0;
        } catch (const chorale::error& e) {
          return e.code().value();
        }
      }(),
      EBUSY);
}

namespace {

/// Joins group 5, and reports how many of its datagrams arrived until told to stop.
TEST_CASE("child: multicast member", "[.child]") {
  const wire line = child_wire();
  rig r;
  const group g(r, 5);
  receiver self(r);
  for (std::uint64_t id = 0; id < 16; ++id) self.post(id);
  const multicast_membership own(self.pair, g.gid, g.lid);
  line.send(char{1});
  for (;;) {
    const auto expected = line.receive<std::uint64_t>();
    if (expected == 0) return;
    line.send(value_of(self));
  }
}

}  // namespace

TEST_CASE("groups span processes, and outlive those that die", "[multicast]") {
  if (is_simulated()) return skip(one_process);
  rig r;
  const group g(r, 5);
  receiver self(r);
  for (std::uint64_t id = 0; id < 8; ++id) self.post(id);
  const multicast_membership own(self.pair, g.gid, g.lid);
  child first("child: multicast member"), second("child: multicast member"), third("child: multicast member");
  for (child* c : {&first, &second, &third}) static_cast<void>(c->line().receive<char>());
  const auto round = [&](std::uint64_t value, const std::vector<child*>& living) {
    send_to(r, self.pair, g, value);
    CHECK(value_of(self) == value);
    for (child* c : living) {
      c->line().send(value);
      CHECK(c->line().receive<std::uint64_t>() == value);
    }
  };
  round(100, {&first, &second, &third});
  second.kill();
  round(101, {&first, &third});
  third.line().send(std::uint64_t{0});
  CHECK(third.join() == "");
  round(102, {&first});
  first.line().send(std::uint64_t{0});
  CHECK(first.join() == "");
  round(103, {});
  CHECK(test::stays_empty(self.queue, quiet));
}
