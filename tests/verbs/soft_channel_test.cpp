// SPDX-License-Identifier: Apache-2.0
// A completion channel between processes.
#include <chrono>
#include <fcntl.h>
#include <poll.h>

#include <catch2/catch.hpp>

#include "soft_support.hpp"

using namespace soft_test;

TEST_CASE("A completion channel wakes a process that blocks", "[soft]") {
  const auto report = run_pair(
      [](wire& line) {
        node n;
        ibv_qp* qp = make_qp(n, IBV_QPT_RC);
        line.send(qp->qp_num);
        connect_rc(n, qp, line.receive<std::uint32_t>());
        const auto send = [&](unsigned flags) {
          const std::uint64_t value = 1;
          expect(post(qp, IBV_WR_SEND, {{reinterpret_cast<std::uint64_t>(&value), 8, 0}},
                      unsigned{IBV_SEND_INLINE} | IBV_SEND_SIGNALED | flags) == 0,
                 "send");
          expect(wait(n.send_cq).status == IBV_WC_SUCCESS, "send completes");
        };
        line.meet();  // armed for any
        send(0);
        send(0);
        line.meet();
        line.meet();  // armed for solicited
        send(0);
        line.meet();
        line.meet();
        send(IBV_SEND_SOLICITED);
        line.meet();
        soft().destroy_qp(qp);
      },
      [](wire& line) {
        node n(64, true);
        ibv_qp* qp = make_qp(n, IBV_QPT_RC);
        {
          memory m(n, 4096, true);
          line.send(qp->qp_num);
          connect_rc(n, qp, line.receive<std::uint32_t>());
          for (std::uint64_t i = 0; i < 4; ++i)
            expect(post_receive(qp, i, {sge(m, 8 * i, 8)}) == 0, "receive");
          fcntl(n.channel->fd, F_SETFL, fcntl(n.channel->fd, F_GETFL) | O_NONBLOCK);
          pollfd p{n.channel->fd, POLLIN, 0};
          ibv_cq* cq = nullptr;
          void* cq_context = nullptr;
          expect(soft().get_cq_event(n.channel, &cq, &cq_context) == -1 && errno == EAGAIN,
                 "no event at first");
          expect(ibv_req_notify_cq(n.recv_cq, 0) == 0, "arm");
          line.meet();
          expect(poll(&p, 1, 10'000) == 1, "poll is woken");
          expect(soft().get_cq_event(n.channel, &cq, &cq_context) == 0 && cq == n.recv_cq && cq_context == &n,
                 "event");
          line.meet();
          expect(poll(&p, 1, 20) == 0, "one event for two completions");
          wait(n.recv_cq);
          // A completion that is already there fires no event; neither does an unsolicited one.
          expect(ibv_req_notify_cq(n.recv_cq, 1) == 0, "arm for solicited");
          line.meet();
          line.meet();
          expect(poll(&p, 1, 20) == 0, "not solicited");
          line.meet();
          expect(poll(&p, 1, 10'000) == 1, "solicited");
          expect(soft().get_cq_event(n.channel, &cq, &cq_context) == 0, "second event");
          soft().ack_cq_events(cq, 2);
          for (int i = 0; i < 3; ++i) wait(n.recv_cq);
          line.meet();
        }
        soft().destroy_qp(qp);
      });
  CHECK(report == "");
}
