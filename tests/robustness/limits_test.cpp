// SPDX-License-Identifier: Apache-2.0
// System limits that are too small: an error that names the remedy, and no peer is considered dead.
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/error.hpp>
#include <chorale/verbs/device.hpp>

#include "../../lib/verbs/text.hpp"
#include "../support/other_process.hpp"
#include "programs.hpp"

using namespace soft_test;
using namespace robustness;

#ifdef __SANITIZE_THREAD__
TEST_CASE("Limits", "[robustness]") {
  WARN("skipped: ThreadSanitizer cannot start threads in the forked child of a process with threads");
}
#else

namespace {

void limit(int resource, rlim_t value) {
  const rlimit both{value, value};
  expect(setrlimit(static_cast<__rlimit_resource>(resource), &both) == 0, "setrlimit");
}

/// Root becomes `nobody`; false if it cannot.
bool is_ordinary_user() {
  constexpr unsigned nobody = 65534;
  // The kernel protects a process that has changed its user.
  return getuid() != 0 || (setgid(nobody) == 0 && setuid(nobody) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0);
}

/// Expects that soft0 cannot be opened, with an error that contains `word`.
void expect_refusal(const std::string& word) {
  try {
    const auto device = chorale::verbs::device::open("soft0");
  } catch (const chorale::error& e) {
    const std::string text = e.what();
    expect(text.find(word) != std::string::npos && text.find("soft0") != std::string::npos, "'" + text + "'");
    return;
  }
  expect(false, "soft0 opens");
}

/// Opens descriptors until only `spare` are left.
std::vector<int> use_up(std::size_t spare) {
  std::vector<int> used;
  for (int fd = 0; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) used.push_back(fd);
  expect(errno == EMFILE && used.size() > spare, "use up the descriptors");
  for (; spare != 0; --spare) {
    close(used.back());
    used.pop_back();
  }
  return used;
}

rc_options impatient() {
  rc_options o;
  o.timeout = 10;
  o.retry = 3;
  return o;
}

/// Expects that a connection to the process at `line` fails with an error that contains `word`, and succeeds
/// after `mend`.
void reach_in_vain(wire& line, const std::function<void()>& hinder, const std::function<void()>& mend,
                   const std::string& word) {
  node n;
  ibv_qp* qp = make_qp(n, IBV_QPT_RC);
  {
    const memory m(n, 4096, true);
    const auto to = line.receive<address>();
    line.send(qp->qp_num);
    line.receive<char>();
    connect_rc(n, qp, to.qpn, impatient());
    hinder();
    expect(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, 8)}, IBV_SEND_SIGNALED, to.memory, to.rkey) == 0, "post");
    const ibv_wc wc = wait(n.send_cq);
    const std::string text = chorale::verbs::describe(wc, "write");
    expect(wc.status == IBV_WC_RETRY_EXC_ERR && text.find(word) != std::string::npos, "'" + text + "'");
    mend();
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_RESET;
    expect(soft().modify_qp(qp, &a, IBV_QP_STATE) == 0, "reset");
    connect_rc(n, qp, to.qpn, impatient());
    expect(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, 8)}, IBV_SEND_SIGNALED, to.memory, to.rkey) == 0,
           "post again");
    expect(wait(n.send_cq).status == IBV_WC_SUCCESS, "after it was mended");
    line.send(char{1});
  }
  soft().destroy_qp(qp);
}

}  // namespace

TEST_CASE("The error of a device that cannot be opened has the remedy", "[robustness]") {
  const auto refused = [](const child_main& f) {
    child tries(f);
    CHECK(tries.join() == "");
  };
  refused([](wire&) {
    (void)use_up(3);
    expect_refusal("ulimit -n");
  });
  refused([](wire&) {
    limit(RLIMIT_AS, 900U << 20);
    expect_refusal("ulimit -v");
  });
  // Too little for a thread's stack, which is larger than any cached stack of earlier threads.
  refused([](wire&) {
    pthread_attr_t large;
    expect(pthread_attr_init(&large) == 0 && pthread_attr_setstacksize(&large, 64U << 20) == 0 &&
               pthread_setattr_default_np(&large) == 0,
           "large stacks");
    limit(RLIMIT_DATA, (static_cast<rlim_t>(status_number(getpid(), "VmData")) << 10) + (4U << 20));
    expect_refusal("ulimit -d");
  });
  refused([](wire&) {
    limit(RLIMIT_FSIZE, 512U << 20);
    expect_refusal("ulimit -f");
  });
  refused([](wire&) {
    setenv("CHORALE_SOFT_LOSS", "nan", 1);
    expect_refusal("CHORALE_SOFT_LOSS='nan' (it accepts 0 to 100)");
  });
  refused([](wire&) {
    setenv("CHORALE_SOFT_FABRIC", "\033]0;x\007", 1);
    expect_refusal("'\\x1b]0;x\\x07'");
  });
  refused([](wire&) {
    setenv("CHORALE_SOFT_COPY", "please", 1);
    expect_refusal("CHORALE_SOFT_COPY");
  });
  refused([](wire&) {
    setenv("CHORALE_SOFT_FABRIC", "a b", 1);
    expect_refusal("CHORALE_SOFT_FABRIC");
  });
  if (support::in_child([] { return is_ordinary_user() ? 0 : 1; }) != 0) {
    WARN("skipped: ulimit -u, which does not bind root, and this process cannot become another user");
    return;
  }
  refused([](wire&) {
    expect(is_ordinary_user(), "become another user");
    limit(RLIMIT_NPROC, 1);
    expect_refusal("ulimit -u");
  });
}

TEST_CASE("A peer that cannot be reached for want of descriptors", "[robustness]") {
  std::vector<int> used;
  CHECK(run_pair(
            [&](wire& line) {
              limit(RLIMIT_NOFILE, 200);
              reach_in_vain(
                  line, [&] { used = use_up(0); },
                  [&] {
                    for (const int fd : used) close(fd);
                  },
                  "ulimit -n");
            },
            [](wire& line) { sit(line); }) == "");
}

TEST_CASE("A peer that cannot be reached for want of addresses", "[robustness]") {
  CHECK(run_pair(
            [&](wire& line) {
              rlimit before{};
              getrlimit(RLIMIT_AS, &before);
              const auto to = [before](rlim_t value) {
                const rlimit soft_limit{value, before.rlim_max};
                expect(setrlimit(RLIMIT_AS, &soft_limit) == 0, "setrlimit");
              };
              const auto used = static_cast<rlim_t>(status_number(getpid(), "VmSize")) * 1024;
              reach_in_vain(
                  line, [&] { to(used + (1600U << 20)); }, [&] { to(before.rlim_cur); }, "ulimit -v");
            },
            [](wire& line) { sit(line); }) == "");
}

TEST_CASE("An event arrives although there was no descriptor to send it", "[robustness]") {
  const auto sender = [](wire& line) {
    limit(RLIMIT_NOFILE, 200);
    node n;
    const memory m(n, 4096, true);
    ibv_qp* qp = make_qp(n, IBV_QPT_RC);
    line.send(qp->qp_num);
    connect_rc(n, qp, line.receive<std::uint32_t>());
    line.meet();
    const auto send = [&] {
      expect(post(qp, IBV_WR_SEND, {sge(m, 0, 8)}, IBV_SEND_SIGNALED) == 0, "post");
      expect(wait(n.send_cq).status == IBV_WC_SUCCESS, "send");
    };
    send();  // the peer is known now, but neither of its pipes has been opened
    line.meet();
    const auto used = use_up(0);
    send();
    usleep(50'000);
    for (const int fd : used) close(fd);
    line.meet();
    soft().destroy_qp(qp);
  };
  const auto receiver = [](wire& line) {
    node n(64, true);
    const memory m(n, 4096, true);
    ibv_qp* qp = make_qp(n, IBV_QPT_RC);
    const auto other = line.receive<std::uint32_t>();
    line.send(qp->qp_num);
    connect_rc(n, qp, other);
    for (std::uint64_t id = 1; id < 3; ++id) expect(post_receive(qp, id, {sge(m, 0, 8)}) == 0, "receive");
    line.meet();
    expect(wait(n.recv_cq).wr_id == 1, "the first message");
    expect(ibv_req_notify_cq(n.recv_cq, 0) == 0, "arm");
    line.meet();
    pollfd p{n.channel->fd, POLLIN, 0};
    expect(poll(&p, 1, 10'000) == 1, "the event");
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    expect(soft().get_cq_event(n.channel, &cq, &context) == 0 && cq == n.recv_cq, "of that queue");
    soft().ack_cq_events(cq, 1);
    expect(wait(n.recv_cq).wr_id == 2, "the second message");
    expect(poll(&p, 1, 20) == 0, "one event");
    line.meet();
    soft().destroy_qp(qp);
  };
  CHECK(run_pair(sender, receiver) == "");
}

TEST_CASE("A process without spare descriptors considers no peer dead", "[robustness]") {
  CHECK(run_pair(
            [](wire& line) {
              limit(RLIMIT_NOFILE, 200);
              node n;
              link_to_sitter living(n, true);
              link_to_sitter dying(n, true, impatient());
              living.check(1);
              const auto used = use_up(0);
              for (unsigned i = 0; i < 20; ++i) {
                living.check(i);
                usleep(20'000);  // longer than the interval of checks for deaths
              }
              dying.process().kill();
              expect(dying.first_failure() == IBV_WC_RETRY_EXC_ERR, "the dead are dead all the same");
              living.check(30);
              for (const int fd : used) close(fd);
              line.meet();
            },
            [](wire& line) { line.meet(); }) == "");
}
#endif
