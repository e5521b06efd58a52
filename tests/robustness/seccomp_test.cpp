// SPDX-License-Identifier: Apache-2.0
// Sandboxes that forbid copies between processes, or the file descriptor of a process: slower, with the same
// results.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "../../lib/soft/objects.hpp"
#include "filter.hpp"
#include "programs.hpp"

using namespace soft_test;
using namespace robustness;

#ifdef __SANITIZE_THREAD__
TEST_CASE("Sandboxes", "[robustness]") {
  WARN("skipped: ThreadSanitizer cannot start threads in the forked child of a process with threads");
}
#else

namespace {

constexpr std::size_t room = 300'000;  // several bounces

bool must_bounce(std::uint32_t qpn) {
  namespace device = chorale::soft;
  device::process* self = device::process::join();
  const device::peer* to = self->find_peer(device::slot_of(qpn));
  const bool bounces = to != nullptr && to->must_bounce.load();
  self->leave();
  return bounces;
}

/// Writes, reads, sends and atomics to the other side's private memory, with odd sizes and offsets.
void ask(wire& line, bool expect_bounce) {
  node n;
  ibv_qp* qp = make_qp(n, IBV_QPT_RC);
  {
    const memory from(n, room, false);
    const memory back(n, room, false);
    const auto to = line.receive<address>();
    line.send(qp->qp_num);
    connect_rc(n, qp, to.qpn);
    line.meet();
    std::mt19937 generator{7};
    for (std::size_t i = 0; i < room; ++i) from.data[i] = static_cast<unsigned char>(generator());
    const auto finished = [&] { return wait(n.send_cq).status == IBV_WC_SUCCESS; };
    for (const unsigned bytes : {1U, 7U, 8U, 63U, 4096U, 65535U, 65536U, 65537U, 200'001U}) {
      const std::size_t here = generator() % 997;
      const std::size_t there = generator() % 991;
      expect(post(qp, IBV_WR_RDMA_WRITE, {sge(from, here, bytes)}, IBV_SEND_SIGNALED, to.memory + there,
                  to.rkey) == 0 &&
                 finished(),
             "write");
      std::memset(back.data, 0, room);
      expect(post(qp, IBV_WR_RDMA_READ, {sge(back, 3, bytes)}, IBV_SEND_SIGNALED, to.memory + there,
                  to.rkey) == 0 &&
                 finished(),
             "read");
      expect(std::memcmp(back.data + 3, from.data + here, bytes) == 0, "what was read");
      expect(back.data[2] == 0 && back.data[3 + bytes] == 0, "nothing beside it");
    }
    std::uint64_t zero = 0;
    std::memcpy(from.data, &zero, 8);
    expect(post(qp, IBV_WR_RDMA_WRITE, {sge(from, 0, 8)}, IBV_SEND_SIGNALED, to.memory + 64, to.rkey) == 0 &&
               finished(),
           "write zero");
    for (std::uint64_t i = 0; i < 100; ++i) {
      expect(post(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, {sge(back, 0, 8)}, IBV_SEND_SIGNALED, to.memory + 64,
                  to.rkey, 3) == 0 &&
                 finished(),
             "atomic");
      std::uint64_t old = 0;
      std::memcpy(&old, back.data, 8);
      expect(old == 3 * i, "the old value");
    }
    for (int i = 0; i < 20; ++i) {
      expect(post(qp, IBV_WR_SEND, {sge(from, 100, 1000), sge(from, 5000, 69'000)}, IBV_SEND_SIGNALED) == 0 &&
                 finished(),
             "send");
    }
    expect(must_bounce(to.qpn) == expect_bounce, "the way that the copies take");
    line.meet();
  }
  soft().destroy_qp(qp);
}

void answer(wire& line) {
  node n;
  ibv_qp* qp = make_qp(n, IBV_QPT_RC);
  {
    const memory m(n, room, false);
    const memory received(n, 20 * 70'000, false);
    line.send(address{qp->qp_num, m.address(), m.mr->rkey});
    connect_rc(n, qp, line.receive<std::uint32_t>());
    for (std::size_t i = 0; i < 20; ++i) post_receive(qp, i, {sge(received, i * 70'000, 70'000)});
    line.meet();
    std::mt19937 generator{7};
    std::vector<unsigned char> sent(room);
    for (auto& byte : sent) byte = static_cast<unsigned char>(generator());
    for (std::size_t i = 0; i < 20; ++i) {
      const ibv_wc wc = wait(n.recv_cq);
      expect(wc.status == IBV_WC_SUCCESS && wc.wr_id == i && wc.byte_len == 70'000, "receive");
      expect(std::memcmp(received.data + i * 70'000, sent.data() + 100, 1000) == 0 &&
                 std::memcmp(received.data + i * 70'000 + 1000, sent.data() + 5000, 69'000) == 0,
             "what came");
    }
    line.meet();
  }
  soft().destroy_qp(qp);
}

/// False, with a warning, if the kernel accepts no filters.
bool filters_work() {
  child tries([](wire&) { _exit(forbid_copies(EPERM)); });
  const std::string status = tries.join();
  if (!status.empty()) WARN("skipped: the kernel refuses a seccomp filter: " << status);
  return status.empty();
}

child_main under(int errnum, const child_main& f) {
  return [=](wire& line) {
    if (errnum != 0) expect(forbid_copies(errnum) == 0, "filter");
    f(line);
  };
}

}  // namespace

TEST_CASE("Copies between processes are forbidden on one side or both", "[robustness]") {
  if (!filters_work()) return;
  for (const auto& [initiator, target] : std::vector<std::pair<int, int>>{
           {0, 0}, {EPERM, EPERM}, {EPERM, 0}, {0, EPERM}, {ENOSYS, 0}, {EACCES, EPERM}}) {
    INFO("initiator " << initiator << ", target " << target);
    const bool bounces = initiator != 0;
    CHECK(run_pair(under(initiator, [=](wire& line) { ask(line, bounces); }), under(target, answer)) == "");
  }
}

TEST_CASE("Deaths are detected if the kernel provides no process descriptors", "[robustness]") {
  if (!filters_work()) return;
  const std::string seen = run_pair(
      [](wire& line) {
        expect(forbid({SYS_pidfd_open}, ENOSYS) == 0, "filter");
        node n;
        rc_options o;
        o.timeout = 10;
        o.retry = 3;
        {
          link_to_sitter dying(n, true, o);
          dying.check(1);
          dying.process().kill();
          expect(dying.first_failure() == IBV_WC_RETRY_EXC_ERR, "retries exceeded");
        }
        line.meet();
      },
      [](wire& line) { line.meet(); });
  CHECK(seen == "");
}

TEST_CASE("Queues begin empty where the kernel accepts advice about memory and does nothing",
          "[robustness]") {
  if (!filters_work()) return;
  const std::string seen = run_pair(
      [](wire& line) {
        expect(forbid({SYS_madvise}, 0) == 0, "filter");
        const node stays;
        // The later nodes use less memory, and reuse what the first one has left.
        for (const int requests : {250, 100, 100}) {
          node n;
          ibv_qp* qp = make_qp(n, IBV_QPT_RC);
          connect_rc(n, qp, qp->qp_num);
          ibv_qp_attr broken{};
          broken.qp_state = IBV_QPS_ERR;
          expect(soft().modify_qp(qp, &broken, IBV_QP_STATE) == 0, "error state");
          for (int i = 0; i < requests; ++i) {
            expect(post(qp, IBV_WR_RDMA_WRITE, {}, IBV_SEND_SIGNALED) == 0, "post");
            expect(wait(n.send_cq).status == IBV_WC_WR_FLUSH_ERR, "flushed");
          }
          ibv_wc more{};
          expect(ibv_poll_cq(n.send_cq, 1, &more) == 0, "a completion of another queue");
          soft().destroy_qp(qp);
        }
        line.meet();
      },
      [](wire& line) { line.meet(); });
  CHECK(seen == "");
}
#endif
