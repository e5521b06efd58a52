// SPDX-License-Identifier: Apache-2.0
// A member that becomes another program by exec(): its process keeps running, with the same start time.
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "../../lib/soft/objects.hpp"
#include "programs.hpp"

using namespace soft_test;
using namespace robustness;
namespace device = chorale::soft;

#ifdef __SANITIZE_THREAD__
TEST_CASE("Members that call exec", "[robustness]") {
  WARN("skipped: ThreadSanitizer cannot start threads in the forked child of a process with threads");
}
#else

namespace {

void become_sleep() {
  execlp("sleep", "sleep", "100", nullptr);
  expect(false, "exec");
}

rc_options impatient() {
  rc_options o;
  o.timeout = 10;
  o.retry = 3;
  return o;
}

}  // namespace

TEST_CASE("A member that calls exec becomes silent to its peers", "[robustness]") {
  const bool shared = GENERATE(true, false);
  INFO((shared ? "mapped" : "private") << " memory");
  node n;
  {
    ibv_qp* qp = make_qp(n, IBV_QPT_RC);
    {
      const memory m(n, 65536, shared);
      child peer([=](wire& line) {
        node own;
        ibv_qp* its = make_qp(own, IBV_QPT_RC);
        const memory target(own, 65536, shared);
        line.send(address{its->qp_num, target.address(), target.mr->rkey});
        connect_rc(own, its, line.receive<std::uint32_t>());
        line.send(char{1});
        line.receive<char>();
        become_sleep();
      });
      const auto to = peer.line().receive<address>();
      connect_rc(n, qp, to.qpn, impatient());
      peer.line().send(qp->qp_num);
      peer.line().receive<char>();
      const auto write = [&] {
        expect(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, 65536)}, IBV_SEND_SIGNALED, to.memory, to.rkey) == 0,
               "post");
        return wait(n.send_cq).status;
      };
      for (int i = 0; i < 50; ++i) REQUIRE(write() == IBV_WC_SUCCESS);
      peer.line().send(char{1});
      ibv_wc_status status = IBV_WC_SUCCESS;
      for (int i = 0; i < 20'000 && status == IBV_WC_SUCCESS; ++i) {
        status = write();
        usleep(100);
      }
      CHECK(status == IBV_WC_RETRY_EXC_ERR);
      CHECK(state_of(qp) == IBV_QPS_ERR);
      CHECK(write() == IBV_WC_WR_FLUSH_ERR);
      CHECK(members_of_fabric() == 1);
    }
    CHECK(soft().destroy_qp(qp) == 0);
  }
}

TEST_CASE("A lock held by a member that called exec becomes available", "[robustness]") {
  node n;
  ibv_qp* a = make_qp(n, IBV_QPT_RC);
  ibv_qp* b = make_qp(n, IBV_QPT_RC);
  connect_rc(n, a, b->qp_num);
  connect_rc(n, b, a->qp_num);
  {
    const memory m(n, 4096, true);
    child holder([&](wire& line) {
      device::process* self = device::process::join();
      expect(self != nullptr, "join");
      device::peer* parent = self->find_peer(device::slot_of(b->qp_num));
      expect(parent != nullptr && !parent->self, "the parent is a peer");
      device::qp_record& record = parent->base->qps[device::index_of(b->qp_num)];
      auto* queue = device::at<device::receive_queue_record>(*parent->base, record.receive_queue.load());
      auto* cq = device::at<device::completion_queue_record>(*parent->base, record.receive_cq.load());
      expect(queue->lock.try_lock(self->lock_name()) && cq->lock.try_lock(self->lock_name()),
             "take the locks");
      line.send(char{1});
      line.receive<char>();
      become_sleep();
    });
    holder.line().receive<char>();
    holder.line().send(char{1});
    CHECK(post_receive(b, 3, {sge(m, 0, 8)}) == 0);
    CHECK(post(a, IBV_WR_SEND, {sge(m, 64, 8)}, IBV_SEND_SIGNALED) == 0);
    CHECK(wait(n.send_cq, 4).status == IBV_WC_SUCCESS);
    CHECK(wait(n.recv_cq, 4).wr_id == 3);
  }
  CHECK(soft().destroy_qp(a) == 0);
  CHECK(soft().destroy_qp(b) == 0);
}

TEST_CASE("A member that calls exec can join again as the same process", "[robustness]") {
  node n;
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  child peer([&](wire& line) {
    {
      node before;
      line.send(before.lid);
      // Not closed: exec() removes the process from the fabric.
      fcntl(ends[1], F_SETFD, 0);
      execl("/proc/self/exe", "robustness", member_word.data(), std::to_string(ends[1]).c_str(), nullptr);
    }
    expect(false, "exec");
  });
  close(ends[1]);
  CHECK(peer.line().receive<std::uint16_t>() == n.lid);
  wire line(ends[0]);
  const auto to = line.receive<address>();
  ibv_qp* qp = make_qp(n, IBV_QPT_RC);
  {
    const memory m(n, 4096, true);
    connect_rc(n, qp, to.qpn);
    line.send(qp->qp_num);
    line.receive<char>();
    CHECK(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, 64)}, IBV_SEND_SIGNALED, to.memory, to.rkey) == 0);
    CHECK(wait(n.send_cq).status == IBV_WC_SUCCESS);
    CHECK(members_of_fabric() == 2);
    line.send(char{1});
    CHECK(peer.join() == "");
  }
  close(ends[0]);
  CHECK(soft().destroy_qp(qp) == 0);
}
#endif
