// Datagrams, multicast, shared receive queues, completion channels.
#include <arpa/inet.h>
#include <chrono>
#include <fcntl.h>
#include <poll.h>

#include <catch2/catch.hpp>

#include "soft_support.hpp"

using namespace soft_test;

namespace {

ibv_gid group_gid(std::uint8_t last) {
  ibv_gid g{};
  g.raw[0] = 0xff;
  g.raw[1] = 0x12;
  g.raw[15] = last;
  return g;
}

ibv_ah* group_ah(node& n, const ibv_gid& group) {
  ibv_ah_attr a{};
  a.is_global = 1;
  a.grh.dgid = group;
  a.dlid = 0xc001;
  a.port_num = 1;
  return soft().create_ah(n.pd, &a);
}

}  // namespace

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
                     wc.qp_num == qp->qp_num && wc.imm_data == 0x55aa && wc.slid == n.lid,
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

TEST_CASE("Multicast reaches every attached QP of the fabric, the sender's too", "[soft]") {
  constexpr int members = 3;
  const auto member = [](wire& line) {
    node n;
    ibv_qp* qp = make_qp(n, IBV_QPT_UD);
    start_ud(qp);
    const ibv_gid group = group_gid(7);
    ibv_ah* ah = group_ah(n, group);
    {
      memory m(n, 8192, true);
      const auto me = line.receive<std::uint64_t>();
      for (std::uint64_t i = 0; i < 8; ++i)
        expect(post_receive(qp, i, {sge(m, 100 * i, 100)}) == 0, "receive");
      expect(soft().attach_mcast(qp, &group, 0xc001) == 0, "attach");
      expect(soft().attach_mcast(qp, &group, 0xc001) == 0, "attach again");
      line.meet();
      std::memcpy(m.data + 4096, &me, 8);
      expect(post_datagram(qp, {sge(m, 4096, 8)}, IBV_SEND_SIGNALED, ah, 0xffffff) == 0, "send");
      std::uint64_t seen = 0;
      for (int i = 0; i < members; ++i) {
        const auto wc = wait(n.recv_cq);
        std::uint64_t who = 0;
        std::memcpy(&who, m.data + 100 * wc.wr_id + 40, 8);
        expect(wc.byte_len == 48 && (wc.wc_flags & IBV_WC_GRH) != 0 && who < members, "a member's datagram");
        seen |= 1U << who;
      }
      expect(seen == 7, "one of each member");
      line.meet();
      expect(soft().detach_mcast(qp, &group, 0xc001) == 0, "detach");
      expect(soft().detach_mcast(qp, &group, 0xc001) == EINVAL, "detach twice");
      line.meet();
      expect(post_datagram(qp, {sge(m, 4096, 8)}, IBV_SEND_SIGNALED, ah, 0xffffff) == 0,
             "send to an empty group");
      line.meet();
      expect(silent(n.recv_cq, 0.01), "nothing after detaching");
      ibv_qp* rc = make_qp(n, IBV_QPT_RC);
      expect(soft().attach_mcast(rc, &group, 0xc001) == EINVAL, "only UD QPs");
      soft().destroy_qp(rc);
      const ibv_gid unicast = n.gid;
      expect(soft().attach_mcast(qp, &unicast, 0) == EINVAL, "only multicast GIDs");
    }
    soft().destroy_ah(ah);
    expect(soft().destroy_qp(qp) == 0, "destroy");
  };
  std::vector<std::unique_ptr<child>> children;
  for (int i = 0; i < members; ++i) children.push_back(std::make_unique<child>(member));
  for (std::uint64_t i = 0; i < members; ++i) children[i]->line().send(i);
  for (int phase = 0; phase < 4; ++phase) {
    for (auto& c : children) c->line().receive<char>();
    for (auto& c : children) c->line().send(char{1});
  }
  for (auto& c : children) CHECK(c->join() == "");
}

TEST_CASE("A shared receive queue serves several QPs and tells when it runs low", "[soft]") {
  node n;
  node m;
  memory from(n, 4096, true);
  memory to(m, 65536, true);
  ibv_srq_init_attr init{};
  init.attr.max_wr = 16;
  init.attr.max_sge = 1;
  ibv_srq* srq = soft().create_srq(m.pd, &init);
  REQUIRE(srq != nullptr);
  ibv_qp* senders[3];
  ibv_qp* receivers[3];
  for (int i = 0; i < 3; ++i) {
    senders[i] = make_qp(n, IBV_QPT_RC);
    receivers[i] = make_qp(m, IBV_QPT_RC, srq);
    connect_rc(n, senders[i], receivers[i]->qp_num);
    connect_rc(m, receivers[i], senders[i]->qp_num);
  }
  CHECK(post_receive(receivers[0], 1, {sge(to, 0, 8)}) == EINVAL);
  for (std::uint64_t i = 0; i < 16; ++i) CHECK(post_receive(srq, i, {sge(to, 64 * i, 64)}) == 0);
  CHECK(post_receive(srq, 16, {sge(to, 0, 64)}) == ENOMEM);
  ibv_srq_attr limit{};
  limit.srq_limit = 10;
  CHECK(soft().modify_srq(srq, &limit, IBV_SRQ_LIMIT) == 0);
  pollfd p{m.context->async_fd, POLLIN, 0};
  for (std::uint64_t i = 0; i < 12; ++i) {
    const std::uint64_t value = 1000 + i;
    CHECK(post(senders[i % 3], IBV_WR_SEND, {{reinterpret_cast<std::uint64_t>(&value), 8, 0}},
               IBV_SEND_INLINE | IBV_SEND_SIGNALED) == 0);
    const auto wc = wait(m.recv_cq);
    CHECK(wc.wr_id == i);
    CHECK(wc.qp_num == receivers[i % 3]->qp_num);
    std::uint64_t got = 0;
    std::memcpy(&got, to.data + 64 * i, 8);
    CHECK(got == value);
    // 16 - 7 = 9 are left after the seventh: below the limit of 10 for the first time.
    if (i < 6) CHECK(poll(&p, 1, 0) == 0);
    if (i == 6) {
      CHECK(poll(&p, 1, 2000) == 1);
      ibv_async_event event{};
      CHECK(soft().get_async_event(m.context, &event) == 0);
      CHECK(event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED);
      CHECK(event.element.srq == srq);
      soft().ack_async_event(&event);
    }
  }
  CHECK(poll(&p, 1, 50) == 0);
  CHECK(soft().query_srq(srq, &limit) == 0);
  CHECK(limit.srq_limit == 0);
  CHECK(limit.max_wr == 16);
  CHECK(soft().destroy_srq(srq) == EBUSY);
  for (int i = 0; i < 3; ++i) {
    CHECK(soft().destroy_qp(senders[i]) == 0);
    CHECK(soft().destroy_qp(receivers[i]) == 0);
  }
  CHECK(soft().destroy_srq(srq) == 0);
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
          // A completion that is there already fires nothing; neither does an unsolicited one.
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
