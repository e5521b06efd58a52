// SPDX-License-Identifier: Apache-2.0
// The adapter's cache of queue pair contexts: its misses, and their cost.
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/clock.hpp>
#include <chorale/verbs/soft_counters.hpp>

#include "soft_environment.hpp"
#include "soft_support.hpp"

using namespace soft_test;
using chorale::verbs::read_soft_counters;

TEST_CASE("Few connections stay in the adapter's cache, many do not", "[contexts]") {
  // On the immediate engine if a miss has a cost; on the deferred engine always.
  const char* miss = GENERATE("0", "1");
  const bool immediate = GENERATE(false, true);
  if (immediate && *miss == '0') return;
  const auto misses = [&](int pairs) {
    const variables cache({{"CHORALE_SOFT_CONTEXTS", "16"},
                           {"CHORALE_SOFT_CONTEXT_MISS_NS", miss},
                           {"CHORALE_SOFT_ENGINE", immediate ? "immediate" : "deferred"}});
    node n;
    std::vector<ibv_qp*> all;
    memory m(n, 4096, true);
    for (int i = 0; i < pairs; ++i) {
      all.push_back(make_qp(n, IBV_QPT_RC, nullptr, 64));
      all.push_back(make_qp(n, IBV_QPT_RC, nullptr, 64));
      connect_rc(n, all.end()[-2], all.back()->qp_num);
      connect_rc(n, all.back(), all.end()[-2]->qp_num);
    }
    for (int i = 0; i < 640; ++i) {
      REQUIRE(post(all[static_cast<std::size_t>(i % pairs) * 2], IBV_WR_RDMA_WRITE, {sge(m, 0, 8)},
                   IBV_SEND_SIGNALED, m.address(), m.mr->rkey) == 0);
      wait(n.send_cq);
    }
    const auto counted = read_soft_counters(n.context);
    CHECK(counted.context_hits + counted.context_misses == 2 * 640);
    for (ibv_qp* qp : all) soft().destroy_qp(qp);
    return counted.context_misses;
  };
  CHECK(misses(1) == 2);
  CHECK(misses(64) > 1000);
}

TEST_CASE("A miss of the adapter's cache takes its time, and without a cost no miss is counted",
          "[contexts]") {
  struct elapsed final : chorale::time_source {
    chorale::clock::time_point now() noexcept override { return chorale::clock::time_point{} + slept; }
    void give_way() noexcept override {}
    void sleep_until(chorale::clock::time_point end) noexcept override {
      slept = end - chorale::clock::time_point{};
    }
    chorale::clock::duration slept{};
  };
  const auto run = [](std::map<std::string, std::string> environment) {
    const variables cache(std::move(environment));
    node n;
    ibv_qp* rc = make_qp(n, IBV_QPT_RC);
    connect_rc(n, rc, rc->qp_num);
    ibv_qp* ud = make_qp(n, IBV_QPT_UD);
    start_ud(ud);
    ibv_ah* ah = make_ah(n, false);
    elapsed time;
    chorale::verbs::soft_counters counted;
    {
      memory m(n, 4096, true);
      REQUIRE(post_receive(ud, 1, {sge(m, 1024, 64)}) == 0);
      {
        const chorale::replaced_clock here(time);
        REQUIRE(post(rc, IBV_WR_RDMA_WRITE, {sge(m, 0, 8)}, IBV_SEND_SIGNALED, m.address() + 8, m.mr->rkey) ==
                0);
        REQUIRE(post_datagram(ud, {sge(m, 0, 8)}, IBV_SEND_SIGNALED, ah, ud->qp_num) == 0);
      }
      wait(n.send_cq);
      wait(n.send_cq);
      wait(n.recv_cq);
      counted = read_soft_counters(n.context);
    }
    soft().destroy_ah(ah);
    soft().destroy_qp(rc);
    soft().destroy_qp(ud);
    return std::pair{counted, time.slept};
  };
  // Both ends of each message are the same queue pair: the first use misses, the second hits.
  const auto [charged, took] = run({{"CHORALE_SOFT_CONTEXT_MISS_NS", "700"}});
  CHECK(charged.context_misses == 2);
  CHECK(charged.context_hits == 2);
  CHECK(took == std::chrono::nanoseconds{1400});
  for (const auto& environment :
       {std::map<std::string, std::string>{}, {{"CHORALE_SOFT_CONTEXT_MISS_NS", "0"}}}) {
    const auto [uncounted, nothing] = run(environment);
    CHECK(uncounted.context_misses + uncounted.context_hits == 0);
    CHECK(nothing == chorale::clock::duration::zero());
  }
}
