// Datagrams and completion channels between processes.
#include <arpa/inet.h>
#include <chrono>
#include <fcntl.h>
#include <poll.h>

#include <catch2/catch.hpp>

#include "soft_support.hpp"

using namespace soft_test;

TEST_CASE("A datagram arrives with 40 bytes before it", "[soft]") {
  const bool global = GENERATE(false, true);
  INFO((global ? "with GRH" : "without GRH"));
  const auto report = run_pair(
      [=](wire& line) {
        node n;
        ibv_qp* qp = make_qp(n, IBV_QPT_UD);
        start_ud(qp);
        ibv_ah* ah = make_ah(n, global);
        {
          memory m(n, 8192, true);
          const auto to = line.receive<std::uint32_t>();
          line.send(qp->qp_num);
          for (int i = 0; i < 4096; ++i) m.data[i] = static_cast<unsigned char>(i * 5);
          const unsigned flags = IBV_SEND_SIGNALED;
          expect(post_datagram(qp, {sge(m, 0, 100)}, flags, ah, to, 0x9999) == 0, "wrong Q_Key is posted");
          expect(post_datagram(qp, {sge(m, 0, 4097)}, flags, ah, to) == 0, "over the MTU is posted");
          expect(post_datagram(qp, {sge(m, 0, 100), sge(m, 100, 3996)}, flags, ah, to) == 0, "an MTU");
          expect(post_datagram(qp, {sge(m, 0, 5)}, flags, ah, to, 0x80000001) == 0, "own Q_Key");
          expect(post_datagram(qp, {sge(m, 0, 6)}, flags, ah, to ^ 1U) == 0, "to nobody");
          expect(post_datagram(qp, {sge(m, 0, 6)}, flags, ah, to) == 0, "too long for the third receive");
          expect(post_datagram(qp, {sge(m, 0, 2)}, flags, ah, to) == 0, "fits the third receive");
          expect(post_datagram(qp, {sge(m, 0, 2)}, flags, ah, to) == 0, "no receive is left");
          for (int i = 0; i < 8; ++i) expect(wait(n.send_cq).status == IBV_WC_SUCCESS, "sends succeed");
          line.meet();
        }
        soft().destroy_ah(ah);
        soft().destroy_qp(qp);
      },
      [=](wire& line) {
        node n;
        ibv_qp* qp = make_qp(n, IBV_QPT_UD);
        start_ud(qp);
        {
          memory m(n, 16384, true);
          std::memset(m.data, 0xee, m.bytes);
          expect(post_receive(qp, 1, {sge(m, 0, 20), sge(m, 4096, 4116)}) == 0, "receive");
          expect(post_receive(qp, 2, {sge(m, 10000, 200)}) == 0, "receive");
          expect(post_receive(qp, 3, {sge(m, 12000, 42)}) == 0, "receive");
          line.send(qp->qp_num);
          const auto from = line.receive<std::uint32_t>();
          auto wc = wait(n.recv_cq);
          expect(wc.status == IBV_WC_SUCCESS && wc.wr_id == 1 && wc.byte_len == 4136 && wc.src_qp == from &&
                     wc.qp_num == qp->qp_num && wc.imm_data == 0x55aa && wc.slid == n.lid && wc.sl == 5,
                 "completion");
          expect(wc.wc_flags == (global ? IBV_WC_GRH | IBV_WC_WITH_IMM : unsigned{IBV_WC_WITH_IMM}), "flags");
          ibv_grh grh{};
          std::memcpy(&grh, m.data, 20);
          std::memcpy(reinterpret_cast<unsigned char*>(&grh) + 20, m.data + 4096, 20);
          if (global) {
            expect(std::memcmp(&grh.sgid, &n.gid, 16) == 0 && std::memcmp(&grh.dgid, &n.gid, 16) == 0,
                   "GRH's GIDs");
            expect(ntohl(grh.version_tclass_flow) >> 28 == 6, "GRH's version");
            ibv_ah* back = soft().create_ah_from_wc(n.pd, &wc, &grh, 1);
            expect(back != nullptr, "address handle from a completion");
            soft().destroy_ah(back);
          } else {
            expect(m.data[0] == m.data[19] && m.data[0] != 0 && m.data[0] != 0xee,
                   "noise where there is no GRH");
          }
          for (int i = 0; i < 4096; ++i)
            expect(m.data[4116 + i] == static_cast<unsigned char>(i * 5), "data at " + std::to_string(i));
          wc = wait(n.recv_cq);
          expect(wc.wr_id == 2 && wc.byte_len == 45, "with the sender's own Q_Key");
          wc = wait(n.recv_cq);
          expect(wc.wr_id == 3 && wc.byte_len == 42, "what was too long took no receive");
          line.meet();
          expect(silent(n.recv_cq, 0.02), "nothing more");
          ibv_port_attr port{};
          soft().query_port(n.context, 1, &port);
          expect(port.qkey_viol_cntr == 1, "the Q_Key violation is counted");
        }
        soft().destroy_qp(qp);
      });
  CHECK(report == "");
}

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
