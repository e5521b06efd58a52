// SPDX-License-Identifier: Apache-2.0
// Threads as ranks: all in one process, which call every verb from any thread.
#include <atomic>
#include <memory>
#include <random>
#include <sched.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "soft_support.hpp"

using namespace soft_test;

TEST_CASE("Threads with a context each exchange RDMA writes and messages", "[soft]") {
  constexpr unsigned ranks = 4;
  constexpr std::uint64_t rounds = 3000;
  struct rank {
    node n{512};
    memory m{n, 65536, true};
    ibv_qp* qps[ranks]{};
  };
  std::vector<std::unique_ptr<rank>> all;
  for (unsigned i = 0; i < ranks; ++i) all.push_back(std::make_unique<rank>());
  for (auto& r : all)
    for (auto& qp : r->qps) qp = make_qp(r->n, IBV_QPT_RC, nullptr, 64);
  for (unsigned i = 0; i < ranks; ++i)
    for (unsigned j = 0; j < ranks; ++j) connect_rc(all[i]->n, all[i]->qps[j], all[j]->qps[i]->qp_num);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (unsigned me = 0; me < ranks; ++me)
    threads.emplace_back([&, me] {
      try {
        rank& mine = *all[me];
        for (std::uint64_t i = 0; i < 32; ++i)
          post_receive(mine.qps[(me + 1) % ranks], i, {sge(mine.m, 4096, 8)});
        for (std::uint64_t round = 1; round <= rounds; ++round) {
          // A counter after eight words, to the next rank.
          const unsigned next = (me + 1) % ranks;
          std::uint64_t words[8];
          for (auto& w : words) w = round;
          rank& target = *all[next];
          expect(post(mine.qps[next], IBV_WR_RDMA_WRITE, {{reinterpret_cast<std::uint64_t>(words), 64, 0}},
                      unsigned{IBV_SEND_INLINE} | (round % 16 == 0 ? unsigned{IBV_SEND_SIGNALED} : 0U),
                      target.m.address(), target.m.mr->rkey) == 0,
                 "write");
          if (round % 16 == 0) expect(wait(mine.n.send_cq).status == IBV_WC_SUCCESS, "write completes");
          auto* got = reinterpret_cast<std::uint64_t*>(mine.m.data);
          const std::atomic_ref<std::uint64_t> last(got[7]);
          while (last.load(std::memory_order_acquire) < round) sched_yield();
          for (int i = 0; i < 8; ++i) expect(got[i] == round, "data behind the counter");
          // Answers the previous rank, so that it does not overwrite unread data.
          const unsigned before = (me + ranks - 1) % ranks;
          expect(post(mine.qps[before], IBV_WR_SEND, {{reinterpret_cast<std::uint64_t>(&round), 8, 0}},
                      unsigned{IBV_SEND_INLINE} | IBV_SEND_SIGNALED) == 0,
                 "send");
          const auto wc = wait(mine.n.recv_cq);
          expect(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV, "message");
          post_receive(mine.qps[next], wc.wr_id, {sge(mine.m, 4096, 8)});
          expect(wait(mine.n.send_cq).status == IBV_WC_SUCCESS, "send completes");
        }
      } catch (const std::exception& e) {
        std::fprintf(stderr, "rank %u: %s\n", me, e.what());
        ++failures;
      }
    });
  for (auto& t : threads) t.join();
  CHECK(failures == 0);
  for (auto& r : all)
    for (auto* qp : r->qps) CHECK(soft().destroy_qp(qp) == 0);
}

TEST_CASE("Threads share a QP, a completion queue and a shared receive queue", "[soft]") {
  constexpr int threads_count = 4;
  constexpr std::uint64_t each = 4000;
  node a(1024);
  node b(1024);
  memory to(b, 65536, true);
  ibv_srq_init_attr init{};
  init.attr.max_wr = 256;
  init.attr.max_sge = 1;
  ibv_srq* srq = soft().create_srq(b.pd, &init);
  ibv_qp* sender = make_qp(a, IBV_QPT_RC, nullptr, 128);
  ibv_qp* receiver = make_qp(b, IBV_QPT_RC, srq);
  connect_rc(a, sender, receiver->qp_num);
  connect_rc(b, receiver, sender->qp_num);
  for (std::uint64_t i = 0; i < 256; ++i) REQUIRE(post_receive(srq, i, {sge(to, 64 * i, 64)}) == 0);
  std::atomic<std::uint64_t> sent{0}, completed{0}, received{0}, sum{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < threads_count; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < each;) {
        const std::uint64_t value = t * each + i;
        const int status = post(sender, IBV_WR_SEND, {{reinterpret_cast<std::uint64_t>(&value), 8, 0}},
                                unsigned{IBV_SEND_INLINE} | IBV_SEND_SIGNALED);
        if (status == 0) ++i, ++sent;
        ibv_wc wc[4];
        const int got = ibv_poll_cq(a.send_cq, 4, wc);
        for (int k = 0; k < got; ++k) completed += wc[k].status == IBV_WC_SUCCESS;
        if (status != 0) sched_yield();
      }
    });
    threads.emplace_back([&] {
      while (received.load() < threads_count * each) {
        ibv_wc wc[4];
        const int got = ibv_poll_cq(b.recv_cq, 4, wc);
        for (int k = 0; k < got; ++k) {
          std::uint64_t value = 0;
          std::memcpy(&value, to.data + 64 * wc[k].wr_id, 8);
          sum += value;
          post_receive(srq, wc[k].wr_id, {sge(to, 64 * wc[k].wr_id, 64)});
          ++received;
        }
        if (got == 0) sched_yield();
      }
    });
  }
  for (auto& t : threads) t.join();
  ibv_wc wc{};
  while (completed.load() < threads_count * each && ibv_poll_cq(a.send_cq, 1, &wc) == 1) ++completed;
  CHECK(completed == threads_count * each);
  constexpr std::uint64_t total = threads_count * each;
  CHECK(sum == total * (total - 1) / 2);
  CHECK(soft().destroy_qp(sender) == 0);
  CHECK(soft().destroy_qp(receiver) == 0);
  CHECK(soft().destroy_srq(srq) == 0);
}

TEST_CASE("No peer writes into a region that has been deregistered", "[soft]") {
  // A writer never pauses; once the owner has deregistered its memory, it must not change any more.
  const bool shared = GENERATE(true, false);
  const auto report = run_pair(
      [](wire& line) {
        node n;
        {
          memory m(n, 1 << 20, true);
          std::memset(m.data, 0xaa, m.bytes);
          for (int round = 0; round < 40; ++round) {
            ibv_qp* qp = make_qp(n, IBV_QPT_RC);
            line.send(qp->qp_num);
            const auto to = line.receive<address>();
            connect_rc(n, qp, to.qpn);
            line.meet();
            for (;;) {
              expect(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, m.bytes)}, IBV_SEND_SIGNALED, to.memory,
                          to.rkey) == 0,
                     "write");
              const auto wc = wait(n.send_cq);
              if (wc.status == IBV_WC_SUCCESS) continue;
              // REM_OP_ERR if the target's own thread copies, and finds no region.
              expect(wc.status == IBV_WC_REM_ACCESS_ERR || wc.status == IBV_WC_REM_OP_ERR,
                     "the region is gone");
              break;
            }
            line.meet();
            soft().destroy_qp(qp);
          }
        }
      },
      [=](wire& line) {
        node n;
        std::mt19937 random(7);
        for (int round = 0; round < 40; ++round) {
          ibv_qp* qp = make_qp(n, IBV_QPT_RC);
          memory m(n, 1 << 20, shared);
          line.send(address{qp->qp_num, m.address(), m.mr->rkey});
          connect_rc(n, qp, line.receive<std::uint32_t>());
          line.meet();
          usleep(static_cast<unsigned>(random() % 3000));
          expect(soft().dereg_mr(m.mr) == 0, "dereg_mr");
          std::memset(m.data, round, m.bytes);
          usleep(1000);
          // All bytes equal the first. Compared at once, since the writer and its deadline wait meanwhile.
          expect(m.data[0] == static_cast<unsigned char>(round) &&
                     std::memcmp(m.data, m.data + 1, m.bytes - 1) == 0,
                 "written after deregistration");
          m.mr = soft().reg_mr(n.pd, m.data, m.bytes, memory::all_rights);
          // A writer that had no core for so long must find the queue pair, and be refused by it.
          line.meet();
          soft().destroy_qp(qp);
        }
      });
  CHECK(report == "");
}
