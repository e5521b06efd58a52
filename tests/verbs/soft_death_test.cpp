// SPDX-License-Identifier: Apache-2.0
// Processes that die, leave, or fork.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <memory>
#include <mutex>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "../../lib/soft/process.hpp"
#include "soft_support.hpp"

using namespace soft_test;

namespace {

int names_in_use() {
  std::ifstream names("/proc/net/unix");
  const std::string mine = std::string("/") + std::getenv("CHORALE_SOFT_FABRIC") + "/";
  int count = 0;
  for (std::string line; std::getline(names, line);) count += line.find(mine) != std::string::npos;
  return count;
}

}  // namespace

TEST_CASE("Processes killed in the midst of traffic harm no others and leave nothing behind", "[soft]") {
  REQUIRE(names_in_use() == 0);
  constexpr int rounds = 6;
  {
    node n;
    ibv_qp* receiver = make_qp(n, IBV_QPT_UD, nullptr, 1024);
    start_ud(receiver, 0x77);
    const ibv_gid group = [] {
      ibv_gid g{};
      g.raw[0] = 0xff;
      g.raw[15] = 9;
      return g;
    }();
    REQUIRE(soft().attach_mcast(receiver, &group, 0) == 0);
    {
      memory m(n, 1024 * 64, true);
      for (int round = 0; round < rounds; ++round) {
        for (std::uint64_t i = 0; i < 1024; ++i) post_receive(receiver, i, {sge(m, i * 64, 64)});
        const std::uint32_t qpn = receiver->qp_num;
        const auto shoot = [&](wire& line) {
          node own;
          ibv_qp* qp = make_qp(own, IBV_QPT_UD);
          start_ud(qp, 0x77);
          expect(soft().attach_mcast(qp, &group, 0) == 0, "attach");
          ibv_ah* one = make_ah(own, round % 2 == 0);
          ibv_ah_attr a{};
          a.is_global = 1;
          a.grh.dgid = group;
          a.port_num = 1;
          ibv_ah* all = soft().create_ah(own.pd, &a);
          line.send(char{1});
          const std::uint64_t value = 5;
          for (std::uint64_t i = 1;; ++i) {
            ibv_wc wc{};
            post_datagram(qp, {{reinterpret_cast<std::uint64_t>(&value), 8, 0}},
                          unsigned{IBV_SEND_INLINE} | IBV_SEND_SIGNALED, i % 3 == 0 ? all : one,
                          i % 3 == 0 ? 0xffffff : qpn, 0x77);
            ibv_poll_cq(own.send_cq, 1, &wc);
          }
        };
        std::vector<std::unique_ptr<child>> children;
        for (int i = 0; i < 3; ++i) children.push_back(std::make_unique<child>(shoot));
        for (auto& c : children) c->line().receive<char>();
        for (int i = 0; i < 200; ++i) {
          const auto wc = wait(n.recv_cq);
          REQUIRE(wc.status == IBV_WC_SUCCESS);
          REQUIRE(wc.byte_len == 48);
          post_receive(receiver, wc.wr_id, {sge(m, wc.wr_id * 64, 64)});
        }
        for (auto& c : children) c->kill();
        // The queue still works: no lock is left held.
        ibv_wc wc{};
        while (ibv_poll_cq(n.recv_cq, 1, &wc) == 1) {
        }
      }
      REQUIRE(soft().detach_mcast(receiver, &group, 0) == 0);
    }
    CHECK(soft().destroy_qp(receiver) == 0);
    CHECK(names_in_use() == 1);
  }
  CHECK(names_in_use() == 0);
  DIR* shm = opendir("/dev/shm");
  REQUIRE(shm != nullptr);
  while (const dirent* entry = readdir(shm))
    CHECK(std::string(entry->d_name).find("chorale") == std::string::npos);
  closedir(shm);
}

#ifdef __SANITIZE_THREAD__
TEST_CASE("Children of a member of the fabric", "[soft]") {
  WARN("skipped: ThreadSanitizer cannot start threads in the forked child of a process with threads");
}
#else
TEST_CASE("After fork the child is no member, and can become one", "[soft]") {
  node n;
  ibv_qp* a = make_qp(n, IBV_QPT_RC);
  ibv_qp* b = make_qp(n, IBV_QPT_RC);
  connect_rc(n, a, b->qp_num);
  connect_rc(n, b, a->qp_num);
  {
    memory m(n, 4096, true);
    child forked([&](wire& line) {
      // The parent's objects do nothing here.
      expect(post(a, IBV_WR_RDMA_WRITE, {sge(m, 0, 8)}, IBV_SEND_SIGNALED, m.address() + 64, m.mr->rkey) ==
                 EINVAL,
             "the parent's QP");
      ibv_wc wc{};
      expect(ibv_poll_cq(n.send_cq, 1, &wc) <= 0, "the parent's CQ");
      expect(soft().destroy_qp(b) == 0, "destroying the parent's QP is private");
      node own;
      expect(own.lid == n.lid, "the same fabric");
      ibv_qp* qp = make_qp(own, IBV_QPT_RC);
      expect(qp->qp_num >> 14 != a->qp_num >> 14, "another member of it");
      line.send(qp->qp_num);
      connect_rc(own, qp, line.receive<std::uint32_t>());
      line.send(char{1});
      line.receive<char>();
      soft().destroy_qp(qp);
    });
    const auto childs = forked.line().receive<std::uint32_t>();
    ibv_qp* c = make_qp(n, IBV_QPT_RC);
    connect_rc(n, c, childs);
    forked.line().send(c->qp_num);
    forked.line().receive<char>();
    CHECK(post(c, IBV_WR_RDMA_WRITE, {}, IBV_SEND_SIGNALED) == 0);
    CHECK(wait(n.send_cq).status == IBV_WC_SUCCESS);
    forked.line().send(char{1});
    CHECK(forked.join() == "");
    CHECK(soft().destroy_qp(c) == 0);
    CHECK(post(a, IBV_WR_RDMA_WRITE, {sge(m, 0, 8)}, IBV_SEND_SIGNALED, m.address() + 64, m.mr->rkey) == 0);
    CHECK(wait(n.send_cq).status == IBV_WC_SUCCESS);
  }
  CHECK(soft().destroy_qp(a) == 0);
  CHECK(soft().destroy_qp(b) == 0);
}

TEST_CASE("Two fabrics do not see each other", "[soft]") {
  const std::string name = std::getenv("CHORALE_SOFT_FABRIC");
  node n;
  ibv_qp* qp = make_qp(n, IBV_QPT_RC);
  child stranger([&](wire& line) {
    setenv("CHORALE_SOFT_FABRIC", (name + "-other").c_str(), 1);
    node own;
    line.send(own.lid);
    line.send(own.gid);
    line.receive<char>();
  });
  const auto lid = stranger.line().receive<std::uint16_t>();
  const auto gid = stranger.line().receive<ibv_gid>();
  CHECK(std::memcmp(&gid, &n.gid, sizeof gid) != 0);
  CHECK((lid != n.lid || gid.global.interface_id != n.gid.global.interface_id));
  stranger.line().send(char{1});
  CHECK(stranger.join() == "");
  CHECK(soft().destroy_qp(qp) == 0);

  for (const char* bad : {"", "a b", "@", "01234567890123456789012345678901234567890"}) {
    child refused([&](wire&) {
      setenv("CHORALE_SOFT_FABRIC", bad, 1);
      ibv_device** list = soft().get_device_list(nullptr);
      expect(soft().open_device(list[0]) == nullptr && errno == ENODEV, "a bad fabric name is refused");
      soft().free_device_list(list);
    });
    CHECK(refused.join() == "");
  }
}

namespace {

/// Private memory at the same address in all processes of this test.
std::array<unsigned char, 64> private_place{};

/// A process with private memory and a QP that is ready to receive writes, until it is killed.
void sit_privately(wire& line) {
  node n;
  ibv_qp* qp = make_qp(n, IBV_QPT_RC);
  const ibv_mr* mr = soft().reg_mr(n.pd, private_place.data(), private_place.size(), memory::all_rights);
  expect(mr != nullptr, "register");
  line.send(address{qp->qp_num, reinterpret_cast<std::uint64_t>(private_place.data()), mr->rkey});
  connect_rc(n, qp, line.receive<std::uint32_t>());
  line.send(char{1});
  for (;;) pause();
}

/// Starts a process with the given PID, once that is free, and reports whether it could; later it reports
/// whether anything has been written into that process.
void start_namesake(wire& line) {
  const int pid = line.receive<int>();
  int go[2];
  expect(pipe(go) == 0, "pipe");
  int twin = -1;
  for (int i = 0; i < 20 && twin != pid; ++i) {
    std::ofstream last("/proc/sys/kernel/ns_last_pid");
    if (!(last << pid - 1 << std::flush)) break;
    twin = fork();
    if (twin == 0) {
      close(go[1]);
      char end = 0;
      (void)!read(go[0], &end, 1);
      _exit(std::ranges::all_of(private_place, [](unsigned char byte) { return byte == 0; }) ? 0 : 1);
    }
    if (twin == pid) break;
    kill(twin, SIGKILL);
    waitpid(twin, nullptr, 0);
  }
  line.send(twin == pid);
  line.receive<char>();
  close(go[1]);
  int status = -1;
  if (twin == pid) waitpid(twin, &status, 0);
  line.send(status);
}

}  // namespace

TEST_CASE("A copy does not reach a process that reuses the PID of a dead peer", "[soft]") {
  child namesake(start_namesake);
  node n;
  ibv_qp* qp = make_qp(n, IBV_QPT_RC);
  {
    const memory m(n, 64, true);
    std::memset(m.data, 0x77, m.bytes);
    child peer(sit_privately);
    const auto to = peer.line().receive<address>();
    peer.line().send(qp->qp_num);
    peer.line().receive<char>();
    rc_options o;
    o.timeout = 10;
    o.retry = 3;
    connect_rc(n, qp, to.qpn, o);
    const auto write = [&] {
      return post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, 64)}, IBV_SEND_SIGNALED, to.memory, to.rkey);
    };
    REQUIRE(write() == 0);
    REQUIRE(wait(n.send_cq).status == IBV_WC_SUCCESS);
    chorale::soft::process* self = chorale::soft::process::join();
    REQUIRE(self != nullptr);
    bool is_reused = false;
    {
      // The thread that would detect the death waits for this one.
      const std::lock_guard busy(self->objects_mutex());
      self->call_attention();
      while (self->own().attention.load() != 0) usleep(100);
      const int pid = peer.pid();
      peer.kill();
      namesake.line().send(pid);
      is_reused = namesake.line().receive<bool>();
      if (is_reused) CHECK(write() == 0);
    }
    self->leave();
    namesake.line().send(char{1});
    const int written = namesake.line().receive<int>();
    if (is_reused) {
      CHECK(written == 0);
      CHECK(wait(n.send_cq).status == IBV_WC_RETRY_EXC_ERR);
    } else {
      WARN(
          "skipped: this user cannot choose the PID of a process (/proc/sys/kernel/ns_last_pid), or another "
          "process was given it");
    }
  }
  CHECK(soft().destroy_qp(qp) == 0);
}
#endif
