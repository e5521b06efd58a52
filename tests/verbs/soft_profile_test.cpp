// SPDX-License-Identifier: Apache-2.0
// Profiles: limits and behaviour that replace the device's own.
#include "soft_profile.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "../../lib/verbs/device_profile.hpp"
#include "soft_pair.hpp"

using namespace soft_test;
using Catch::Matchers::Contains;
using chorale::verbs::device_profile;
using chorale::verbs::read_profile;

TEST_CASE("A profile is a name, keys with values, and lists of values", "[profile]") {
  device_profile p;
  CHECK(read_profile("", 0, p).empty());
  CHECK(p.datagrams);
  CHECK(read_profile("least, inline=64,pkeys=7fff,8006 , srq=3", 0, p).empty());
  CHECK(p.inline_bytes == 64);
  CHECK(p.grants_less_inline);
  CHECK(p.atomics == IBV_ATOMIC_NONE);
  CHECK(p.shared_receive_queues == 3);
  CHECK(p.pkeys == std::vector<std::uint16_t>{0x7fff, 0x8006});
  CHECK(read_profile("gids=v1/fe80::1,v2/10.0.0.1,subnet=fec0::", 0, p).empty());
  REQUIRE(p.gids.size() == 2);
  CHECK(p.gids[1].type == 2);
  CHECK(p.gids[1].gid.raw[12] == 10);
  CHECK(p.subnet == 0xfec0'0000'0000'0000);
  CHECK(read_profile("events=port_up@900,port_down@500", 0, p).empty());
  REQUIRE(p.events.size() == 2);
  CHECK(p.events[0].what == IBV_EVENT_PORT_ERR);
  CHECK(read_profile("# as lines\nmtu=512 # bytes; with a comment\nmax_message=64K\n", 0, p).empty());
  CHECK(p.mtu == IBV_MTU_512);
  CHECK(p.max_message == 65536);
}

TEST_CASE("Ranks take profiles in turn", "[profile]") {
  device_profile p;
  for (const std::uint64_t rank : {0U, 1U, 2U, 3U}) {
    REQUIRE(read_profile("mtu=256;;mtu=1024", rank, p).empty());
    CHECK(p.mtu == (rank % 3 == 0 ? IBV_MTU_256 : rank % 3 == 1 ? IBV_MTU_4096 : IBV_MTU_1024));
  }
}

TEST_CASE("An error in a profile is named, with the accepted values", "[profile]") {
  device_profile p;
  const auto wrong = [&](const std::string& text) { return read_profile(text, 0, p); };
  CHECK_THAT(wrong("nonsense"), Contains("no profile 'nonsense'") && Contains("least"));
  CHECK_THAT(wrong("inlin=3"), Contains("no key 'inlin'") && Contains("inline_over"));
  // No simulated device has a NUMA node.
  CHECK_THAT(wrong("numa=0"), Contains("no key 'numa'"));
  CHECK_THAT(wrong("mtu=2048;mtu=3"), Contains("'3' is no value of 'mtu'") && Contains("4096"));
  CHECK_THAT(wrong("srq=0,least"), Contains("'least' is no key=value"));
  CHECK_THAT(wrong("inline=-1"), Contains("0 to 16384"));
  CHECK_THAT(wrong("srq="), Contains("'' is no value of 'srq'"));
  CHECK_THAT(wrong("gids=v3/::1"), Contains("no value of 'gids'"));
  CHECK_THAT(wrong("link=ethernet"), Contains("add gids="));
}

TEST_CASE("Every shipped profile can be read, and names the source of each value", "[profile]") {
  for (const auto& shipped : chorale::verbs::shipped_profiles()) {
    CAPTURE(shipped.name);
    device_profile p;
    CHECK(read_profile(shipped.name, 0, p) == "");
    std::string_view left = shipped.text;
    while (!left.empty()) {
      const std::string line{left.substr(0, left.find('\n'))};
      left.remove_prefix(std::min(left.size(), line.size() + 1));
      CAPTURE(line);
      const auto comment = line.find('#');
      if (line.substr(0, comment).find('=') == std::string::npos) continue;
      REQUIRE(comment != std::string::npos);
      CHECK(line.size() > comment + 10);
    }
  }
}

TEST_CASE("A device reports and enforces the limits of its profile", "[profile]") {
  const variables set = profiled(
      "sge=2,depth=32,cqe=4096,queue_pairs=3,rd_atomic=4,mtu=1024,max_message=8K,inline=64,"
      "address_handles=2,multicast=1,speed=400");
  node n;
  const ibv_device_attr a = attributes_of(n);
  CHECK(a.max_sge == 2);
  CHECK(a.max_srq_sge == 2);
  CHECK(a.max_qp_wr == 32);
  CHECK(a.max_cqe == 4096);
  CHECK(a.max_qp == 3);
  CHECK(a.max_qp_rd_atom == 4);
  CHECK(a.max_qp_init_rd_atom == 4);
  CHECK(a.max_ah == 2);
  CHECK(a.max_mcast_grp == 1);
  const ibv_port_attr port = port_of(n);
  CHECK(port.active_mtu == IBV_MTU_1024);
  CHECK(port.max_msg_sz == 8192);
  CHECK(port.active_speed == 128);
  CHECK(port.active_width == 2);

  CHECK(try_qp(n, IBV_QPT_RC, {32, 32, 2, 2, 64}) == 0);
  CHECK(try_qp(n, IBV_QPT_RC, {33, 1, 1, 1, 0}) == EINVAL);
  CHECK(try_qp(n, IBV_QPT_RC, {1, 33, 1, 1, 0}) == EINVAL);
  CHECK(try_qp(n, IBV_QPT_RC, {1, 1, 3, 1, 0}) == EINVAL);
  CHECK(try_qp(n, IBV_QPT_RC, {1, 1, 1, 3, 0}) == EINVAL);
  CHECK(try_qp(n, IBV_QPT_RC, {1, 1, 1, 1, 65}) == EINVAL);
  CHECK(soft().create_cq(n.context, 4097, nullptr, nullptr, 0) == nullptr);

  std::vector<ibv_qp*> pairs;
  for (int i = 0; i < 3; ++i) {
    ibv_qp_init_attr wanted = wish(n, IBV_QPT_UD);
    pairs.push_back(soft().create_qp(n.pd, &wanted));
    REQUIRE(pairs.back() != nullptr);
  }
  CHECK(try_qp(n, IBV_QPT_UD, {1, 1, 1, 1, 0}) == ENOMEM);
  ibv_ah* const one = make_ah(n, false);
  ibv_ah* const two = make_ah(n, true);
  ibv_ah_attr way{};
  way.port_num = 1;
  CHECK(soft().create_ah(n.pd, &way) == nullptr);
  CHECK(errno == ENOMEM);
  CHECK(soft().destroy_ah(one) == 0);
  CHECK(soft().destroy_ah(make_ah(n, false)) == 0);
  CHECK(soft().destroy_ah(two) == 0);
  ibv_gid group{};
  group.raw[0] = 0xff;
  ibv_gid other = group;
  other.raw[15] = 1;
  CHECK(soft().attach_mcast(pairs[0], &group, 0xc000) == 0);
  CHECK(soft().attach_mcast(pairs[1], &other, 0xc001) == ENOMEM);
  CHECK(soft().detach_mcast(pairs[0], &group, 0xc000) == 0);
  CHECK(soft().attach_mcast(pairs[1], &other, 0xc001) == 0);
  CHECK(soft().detach_mcast(pairs[1], &other, 0xc001) == 0);
  for (ibv_qp* qp : pairs) CHECK(soft().destroy_qp(qp) == 0);
}

TEST_CASE("A device without shared receive queues, datagrams, groups or atomic operations refuses them",
          "[profile]") {
  {
    const variables set = profiled("srq=0,ud=no,multicast=0,atomics=none");
    node n;
    CHECK(attributes_of(n).max_srq == 0);
    CHECK(attributes_of(n).max_srq_wr == 0);
    CHECK(attributes_of(n).atomic_cap == IBV_ATOMIC_NONE);
    CHECK(attributes_of(n).max_mcast_grp == 0);
    CHECK(try_srq(n) == EOPNOTSUPP);
    CHECK(try_qp(n, IBV_QPT_UD, {1, 1, 1, 1, 0}) == EOPNOTSUPP);
    CHECK(try_qp(n, IBV_QPT_RC, {1, 1, 1, 1, 0}) == 0);
    alignas(8) static unsigned char bytes[64];
    CHECK(try_registration(n, bytes, sizeof bytes) == 0);
    CHECK(try_registration(n, bytes, sizeof bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC) ==
          EINVAL);
    ibv_qp_init_attr wanted = wish(n, IBV_QPT_RC);
    ibv_qp* const qp = soft().create_qp(n.pd, &wanted);
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_INIT;
    a.port_num = 1;
    a.qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC;
    constexpr int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    CHECK(soft().modify_qp(qp, &a, mask) == EOPNOTSUPP);
    a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    a.pkey_index = 1;
    CHECK(soft().modify_qp(qp, &a, mask) == EINVAL);
    a.pkey_index = 0;
    CHECK(soft().modify_qp(qp, &a, mask) == 0);
    soft().destroy_qp(qp);
  }
  const variables set = profiled("srq=1,atomics=global");
  node n;
  CHECK(attributes_of(n).atomic_cap == IBV_ATOMIC_GLOB);
  CHECK(try_srq(n) == 0);
}

TEST_CASE("Fewer inline bytes than requested are granted silently, or refused", "[profile]") {
  for (const bool granted : {true, false}) {
    const variables set = profiled(granted ? "inline=0,inline_over=granted" : "inline=0");
    node n;
    ibv_qp_cap cap{};
    CHECK(try_qp(n, IBV_QPT_RC, {1, 1, 1, 1, 0}) == 0);
    CHECK(try_qp(n, IBV_QPT_RC, {1, 1, 1, 1, 128}, &cap) == (granted ? 0 : EINVAL));
    CHECK(cap.max_inline_data == 0);
    if (!granted) continue;
    // Inline requests are then refused when posted.
    memory m(n, 64, true);
    ibv_qp_init_attr wanted = wish(n, IBV_QPT_RC, {4, 4, 1, 1, 128});
    ibv_qp* const qp = soft().create_qp(n.pd, &wanted);
    REQUIRE(qp != nullptr);
    connect_rc(n, qp, qp->qp_num);
    CHECK(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, 8)}, IBV_SEND_INLINE, m.address() + 8, m.mr->rkey) ==
          EINVAL);
    CHECK(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, 8)}, 0, m.address() + 8, m.mr->rkey) == 0);
    soft().destroy_qp(qp);
  }
}

TEST_CASE("A queue pair's answer about order is the profile's", "[profile]") {
  const auto answer = [](const std::string& text, std::uint32_t flags) {
    const variables set = profiled(text);
    node n;
    ibv_qp_init_attr wanted = wish(n, IBV_QPT_RC);
    ibv_qp* const qp = soft().create_qp(n.pd, &wanted);
    const int answered = soft().query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE, flags);
    soft().destroy_qp(qp);
    return answered;
  };
  CHECK(answer("", 0) == 1);
  CHECK(answer("in_order=no", 0) == 0);
  CHECK(answer("in_order=no", 1) == 0);
  CHECK(answer("in_order=aligned", 0) == 0);
  CHECK(answer("in_order=aligned", 1) == 2);
  CHECK(answer("in_order=yes", 0) == 1);
  CHECK(answer("in_order=yes", 1) == 3);
}

TEST_CASE("Registration is refused by address, by total size, or because the memory is a file", "[profile]") {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char path[] = "/tmp/chorale-profile-XXXXXX";
  const int fd = mkstemp(path);
  REQUIRE(fd >= 0);
  unlink(path);
  REQUIRE(ftruncate(fd, static_cast<off_t>(page)) == 0);
  void* const file = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  void* const copy = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  void* const plain = mmap(nullptr, 5 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* const second = static_cast<unsigned char*>(plain) + page;
  {
    char range[64];
    std::snprintf(range, sizeof range, "%zx-%zx", reinterpret_cast<std::size_t>(second),
                  reinterpret_cast<std::size_t>(second) + page);
    const variables set = profiled(std::string{"refuse_registration=files,"} + range);
    node n;
    CHECK(try_registration(n, file, page) == EFAULT);
    CHECK(try_registration(n, copy, page) == 0);
    CHECK(try_registration(n, plain, page) == 0);
    CHECK(try_registration(n, plain, page + 1) == EFAULT);
    CHECK(try_registration(n, second + page, page) == 0);
    memory of_the_device(n, 4096, true);
  }
  const variables set = profiled("locked=16K");
  node n;
  ibv_mr* const some = soft().reg_mr(n.pd, plain, 12288, IBV_ACCESS_LOCAL_WRITE);
  REQUIRE(some != nullptr);
  CHECK(try_registration(n, plain, 4097) == ENOMEM);
  CHECK(try_registration(n, plain, 4096) == 0);
  CHECK(soft().dereg_mr(some) == 0);
  CHECK(try_registration(n, plain, 16384) == 0);
  CHECK(try_registration(n, plain, 16385) == ENOMEM);
  munmap(file, page);
  munmap(copy, page);
  munmap(plain, 5 * page);
  close(fd);
}

TEST_CASE("A message that is longer than the port's longest fails", "[profile]") {
  const variables set = profiled("max_message=4096");
  node n;
  memory m(n, 16384, true);
  ibv_qp* const qp = make_qp(n, IBV_QPT_RC);
  connect_rc(n, qp, qp->qp_num);
  const auto written = [&](std::size_t bytes) {
    REQUIRE(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, bytes)}, IBV_SEND_SIGNALED, m.address() + 8192,
                 m.mr->rkey) == 0);
    return wait(n.send_cq).status;
  };
  CHECK(written(4096) == IBV_WC_SUCCESS);
  CHECK(written(4097) == IBV_WC_LOC_LEN_ERR);
  soft().destroy_qp(qp);
}

TEST_CASE("A port that goes down is silent until it comes up", "[profile]") {
  const variables set = profiled("events=port_down@10,port_up@300,gid_change@300");
  node n;
  memory m(n, 4096, true);
  ibv_qp* const qp = make_qp(n, IBV_QPT_RC);
  connect_rc(n, qp, qp->qp_num, {.timeout = 20});
  CHECK(next_event(n) == IBV_EVENT_PORT_ERR);
  if (port_of(n).state == IBV_PORT_DOWN) {  // unless this machine is so slow that it is up again
    CHECK(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, 8)}, IBV_SEND_SIGNALED, m.address() + 64, m.mr->rkey) == 0);
    CHECK(wait(n.send_cq).status == IBV_WC_SUCCESS);
    CHECK(port_of(n).state == IBV_PORT_ACTIVE);
  }
  CHECK(next_event(n) == IBV_EVENT_PORT_ACTIVE);
  CHECK(next_event(n) == IBV_EVENT_GID_CHANGE);
  soft().destroy_qp(qp);
}

TEST_CASE("A device that fails stays so", "[profile]") {
  const variables set = profiled("events=fatal@700");
  node n;
  memory m(n, 4096, true);
  ibv_qp* const qp = make_qp(n, IBV_QPT_RC);
  connect_rc(n, qp, qp->qp_num);
  std::vector told{next_event(n), next_event(n)};
  std::sort(told.begin(), told.end());
  CHECK(told == std::vector<int>{IBV_EVENT_QP_FATAL, IBV_EVENT_DEVICE_FATAL});
  CHECK(port_of(n).state == IBV_PORT_DOWN);
  CHECK(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, 8)}, IBV_SEND_SIGNALED, m.address() + 64, m.mr->rkey) == 0);
  CHECK(wait(n.send_cq).status == IBV_WC_WR_FLUSH_ERR);
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RESET;
  CHECK(soft().modify_qp(qp, &a, IBV_QP_STATE) == 0);
  a.qp_state = IBV_QPS_INIT;
  a.port_num = 1;
  CHECK(soft().modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
        EIO);
  soft().destroy_qp(qp);
}
