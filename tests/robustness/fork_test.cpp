// SPDX-License-Identifier: Apache-2.0
// fork() and its children: nothing that they do affects the parent.
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "programs.hpp"

using namespace soft_test;
using namespace robustness;

#ifdef __SANITIZE_THREAD__
TEST_CASE("Children of a member of the fabric", "[robustness]") {
  WARN("skipped: ThreadSanitizer cannot start threads in the forked child of a process with threads");
}
#else

namespace {

/// A connection between two queue pairs of one fresh node works.
void use_afresh() {
  node own;
  ibv_qp* a = make_qp(own, IBV_QPT_RC);
  ibv_qp* b = make_qp(own, IBV_QPT_RC);
  connect_rc(own, a, b->qp_num);
  connect_rc(own, b, a->qp_num);
  {
    const memory m(own, 4096, true);
    m.data[0] = 77;
    expect(post(a, IBV_WR_RDMA_WRITE, {sge(m, 0, 8)}, IBV_SEND_SIGNALED, m.address() + 512, m.mr->rkey) == 0,
           "post afresh");
    expect(wait(own.send_cq).status == IBV_WC_SUCCESS && m.data[512] == 77, "write afresh");
  }
  soft().destroy_qp(a);
  soft().destroy_qp(b);
}

/// Every verb on the parent's objects is rejected, without waiting and without effect on the parent.
void try_parents_objects(node& n, ibv_qp* qp) {
  ibv_wc wc{};
  ibv_cq* cq = nullptr;
  void* cq_context = nullptr;
  ibv_async_event event{};
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  std::uint64_t word = 1;
  expect(post(qp, IBV_WR_RDMA_WRITE, {{reinterpret_cast<std::uint64_t>(&word), 8, 0}},
              unsigned{IBV_SEND_SIGNALED} | IBV_SEND_INLINE) == EINVAL,
         "post_send");
  expect(post_receive(qp, 1, {}) == EINVAL, "post_recv");
  expect(ibv_poll_cq(n.send_cq, 1, &wc) < 0, "poll_cq");
  expect(soft().query_qp(qp, &attributes, IBV_QP_STATE, &init) == EINVAL, "query_qp");
  attributes.qp_state = IBV_QPS_ERR;
  expect(soft().modify_qp(qp, &attributes, IBV_QP_STATE) == EINVAL, "modify_qp");
  if (n.channel != nullptr) expect(soft().get_cq_event(n.channel, &cq, &cq_context) != 0, "get_cq_event");
  expect(soft().get_async_event(n.context, &event) != 0, "get_async_event");
  expect(soft().reg_mr(n.pd, &word, sizeof word, 0) == nullptr, "reg_mr");
}

}  // namespace

TEST_CASE("Children continue, exit, exec or join: the parent is unaffected", "[robustness]") {
  node n(4096, true);
  link_to_sitter line(n, true);
  line.check(0);
  const int before = descriptors(getpid());
  unsigned round = 1;
  const auto child_that = [&](const child_main& f) {
    child forked([&](wire& w) {
      w.receive<char>();
      f(w);
    });
    line.check(round++);
    forked.line().send(char{1});
    line.check(round++);
    CHECK(forked.join() == "");
    line.check(round++);
  };
  child_that([](wire&) {});  // exits, with the handlers of exit()
  child_that([](wire&) { _exit(0); });
  child_that([&](wire&) { try_parents_objects(n, line.qp()); });
  child_that([&](wire&) {
    use_afresh();
    try_parents_objects(n, line.qp());
    use_afresh();
  });
  child_that([](wire&) {
    execl("/bin/true", "true", nullptr);
    expect(false, "exec");
  });
  child_that([](wire&) { use_afresh(); });  // again, after other children
  SECTION("A child that destroys the parent's objects") {
    child_that([&](wire&) {
      expect(soft().destroy_qp(line.qp()) == 0, "destroy_qp");
      expect(soft().destroy_cq(n.send_cq) == 0, "destroy_cq");
    });
  }
  SECTION("A grandchild joins while its parent does not") {
    child_that([](wire&) {
      child grandchild([](wire&) { use_afresh(); });
      expect(grandchild.join().empty(), "the grandchild");
    });
  }
  CHECK(descriptors(getpid()) == before);
  line.process().line().send(char{1});
  CHECK(line.process().join() == "");
}

TEST_CASE("Inherited memory belongs to the child that registers it, and to no other process",
          "[robustness]") {
  constexpr std::size_t page = 4096;
  constexpr std::size_t written = page + 512;  // in a page that registering does not touch
  constexpr std::size_t kept = page + 100;
  constexpr unsigned all_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  struct card {
    std::uint32_t queue_pair;
    std::uint32_t key;
  };
  node n;
  const memory inherited(n, 4 * page, true);
  inherited.data[written] = inherited.data[kept] = 1;
  child forked([&](wire&) {
    node own;
    inherited.data[kept] = 2;
    ibv_mr* mr = soft().reg_mr(own.pd, inherited.data, 4 * page, static_cast<int>(all_access));
    expect(mr != nullptr, "reg_mr");
    ibv_qp* qp = make_qp(own, IBV_QPT_RC);
    child writer([&](wire& w) {
      expect(inherited.data[kept] == 2, "the child's bytes are not those of the grandchild");
      node theirs;
      ibv_qp* peer = make_qp(theirs, IBV_QPT_RC);
      w.send(peer->qp_num);
      const auto there = w.receive<card>();
      connect_rc(theirs, peer, there.queue_pair);
      const memory source(theirs, page, true);
      source.data[0] = 77;
      expect(post(peer, IBV_WR_RDMA_WRITE, {sge(source, 0, 1)}, IBV_SEND_SIGNALED,
                  inherited.address() + written, there.key) == 0,
             "post");
      expect(wait(theirs.send_cq).status == IBV_WC_SUCCESS, "write");
    });
    connect_rc(own, qp, writer.line().receive<std::uint32_t>());
    writer.line().send(card{qp->qp_num, mr->rkey});
    expect(writer.join().empty(), "the grandchild");
    expect(inherited.data[written] == 77, "what was written is not in the child's memory");
    expect(inherited.data[kept] == 2, "the child's bytes have changed");
  });
  CHECK(forked.join() == "");
  CHECK(inherited.data[written] == 1);
  CHECK(inherited.data[kept] == 1);
}

TEST_CASE("Forks while another thread posts", "[robustness]") {
  node n(4096, true);
  link_to_sitter line(n, true);
  std::atomic<bool> stop{false};
  std::atomic<unsigned> rounds{0};
  std::string failure;
  std::thread poster([&] {
    try {
      while (!stop.load()) line.check(rounds.fetch_add(1));
    } catch (const std::exception& e) {
      failure = e.what();
    }
  });
  for (int i = 0; i < 60; ++i) {
    child forked([&](wire&) {
      try_parents_objects(n, line.qp());
      if (i % 3 == 0) use_afresh();
      if (i % 3 == 1) _exit(0);
    });
    INFO("child " << i);
    CHECK(forked.join(20) == "");
  }
  const unsigned seen = rounds.load();
  while (failure.empty() && rounds.load() < seen + 2) usleep(1000);
  stop.store(true);
  poster.join();
  CHECK(failure == "");
}

TEST_CASE("Children that close everything, while other threads take its locks", "[robustness]") {
  node n(4096, true);
  link_to_sitter line(n, true);
  ibv_qp* extra = make_qp(n, IBV_QPT_RC);
  void* const area = soft().allocate(n.context, 8192);
  REQUIRE(area != nullptr);
  auto* const word = static_cast<volatile int*>(area);
  ibv_mr* const region = soft().reg_mr(n.pd, area, 8192, IBV_ACCESS_LOCAL_WRITE);
  REQUIRE(region != nullptr);
  *word = 1;
  std::atomic<bool> stop{false};
  std::vector<std::thread> takers;
  takers.emplace_back([&] {
    while (!stop.load()) soft().ack_cq_events(n.send_cq, 0);
  });
  takers.emplace_back([&] {
    while (!stop.load()) expect(soft().destroy_qp(make_qp(n, IBV_QPT_UD)) == 0, "destroy_qp");
  });
  for (int i = 0; i < 60; ++i) {
    child forked([&](wire&) {
      *word = 2;
      soft().ack_cq_events(n.send_cq, 0);
      expect(soft().destroy_qp(extra) == 0, "destroy_qp");
      expect(soft().dereg_mr(region) == 0, "dereg_mr");
      expect(soft().release(n.context, area, 8192) == 0, "release");
      expect(soft().close_device(n.context) == 0, "close_device");
    });
    INFO("child " << i);
    CHECK(forked.join(20) == "");
    CHECK(*word == 1);
    line.check(static_cast<unsigned>(i));
  }
  stop.store(true);
  for (std::thread& t : takers) t.join();
  CHECK(soft().dereg_mr(region) == 0);
  CHECK(soft().release(n.context, area, 8192) == 0);
  CHECK(soft().destroy_qp(extra) == 0);
}

TEST_CASE("A spawned program inherits nothing of the device", "[robustness]") {
  node n(64, true);
  link_to_sitter line(n, false);
  line.check(1);
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  char program[] = "ls";
  char option[] = "-l";
  char folder[] = "/proc/self/fd";
  char* words[] = {program, option, folder, nullptr};
  pid_t pid = 0;
  REQUIRE(posix_spawnp(&pid, "ls", &actions, nullptr, words, environ) == 0);
  close(ends[1]);
  std::string listing;
  char part[512];
  for (ssize_t got = 0; (got = read(ends[0], part, sizeof part)) > 0;)
    listing.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  waitpid(pid, &status, 0);
  INFO(listing);
  CHECK(status == 0);
  for (const char* mine : {"chorale", "memfd", "eventpoll", "pidfd"})
    CHECK(listing.find(mine) == std::string::npos);
  line.check(2);
}
#endif
