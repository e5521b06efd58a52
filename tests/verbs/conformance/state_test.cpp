// SPDX-License-Identifier: Apache-2.0
// The state machine of queue pairs: for each pair of states and each attribute, whether modify_qp accepts it.
// This table is ordered by attribute (IBTA 11.2.5.2), those of drivers by transition.
#include <string>

#include "scene.hpp"

using namespace conformance;

namespace {

enum : unsigned { rc = 1, uc = 2, ud = 4, connected = rc | uc, any = rc | uc | ud };

unsigned bit_of(ibv_qp_type type) {
  return type == IBV_QPT_RC ? rc : type == IBV_QPT_UC ? uc : ud;
}

struct transition {
  ibv_qp_state from, to;
  unsigned types;
};
constexpr transition reset_init{IBV_QPS_RESET, IBV_QPS_INIT, any};
constexpr transition init_init{IBV_QPS_INIT, IBV_QPS_INIT, any};
constexpr transition init_rtr{IBV_QPS_INIT, IBV_QPS_RTR, any};
constexpr transition rtr_rts{IBV_QPS_RTR, IBV_QPS_RTS, any};
constexpr transition rts_rts{IBV_QPS_RTS, IBV_QPS_RTS, any};
constexpr transition rts_sqd{IBV_QPS_RTS, IBV_QPS_SQD, any};
constexpr transition sqd_rts{IBV_QPS_SQD, IBV_QPS_RTS, any};
constexpr transition sqd_sqd{IBV_QPS_SQD, IBV_QPS_SQD, any};
constexpr transition sqe_rts{IBV_QPS_SQE, IBV_QPS_RTS, uc | ud};

transition only(transition t, unsigned types) {
  t.types = types;
  return t;
}

struct attribute {
  int bit;
  const char* name;
  unsigned types;
  std::vector<transition> required;
  std::vector<transition> optional;
};

const std::vector<attribute>& attributes() {
  static const std::vector<transition> in_service{rtr_rts, rts_rts, sqd_rts, sqd_sqd};
  static const std::vector<attribute> all{
      {IBV_QP_PKEY_INDEX, "PKEY_INDEX", any, {reset_init}, {init_init, init_rtr, sqd_sqd}},
      {IBV_QP_PORT, "PORT", any, {reset_init}, {init_init, only(sqd_sqd, rc)}},
      {IBV_QP_QKEY,
       "QKEY",
       ud,
       {reset_init},
       {init_init, init_rtr, rtr_rts, rts_rts, sqd_rts, sqd_sqd, sqe_rts}},
      {IBV_QP_ACCESS_FLAGS,
       "ACCESS_FLAGS",
       connected,
       {reset_init},
       {init_init, init_rtr, rtr_rts, rts_rts, sqd_rts, sqd_sqd, sqe_rts}},
      {IBV_QP_AV, "AV", connected, {init_rtr}, {sqd_sqd}},
      {IBV_QP_PATH_MTU, "PATH_MTU", connected, {init_rtr}, {}},
      {IBV_QP_DEST_QPN, "DEST_QPN", connected, {init_rtr}, {}},
      {IBV_QP_RQ_PSN, "RQ_PSN", connected, {init_rtr}, {}},
      {IBV_QP_MAX_DEST_RD_ATOMIC, "MAX_DEST_RD_ATOMIC", rc, {init_rtr}, {sqd_sqd}},
      {IBV_QP_MIN_RNR_TIMER, "MIN_RNR_TIMER", rc, {init_rtr}, in_service},
      {IBV_QP_SQ_PSN, "SQ_PSN", any, {rtr_rts}, {}},
      {IBV_QP_TIMEOUT, "TIMEOUT", rc, {rtr_rts}, {sqd_sqd}},
      {IBV_QP_RETRY_CNT, "RETRY_CNT", rc, {rtr_rts}, {sqd_sqd}},
      {IBV_QP_RNR_RETRY, "RNR_RETRY", rc, {rtr_rts}, {sqd_sqd}},
      {IBV_QP_MAX_QP_RD_ATOMIC, "MAX_QP_RD_ATOMIC", rc, {rtr_rts}, {sqd_sqd}},
      {IBV_QP_CUR_STATE, "CUR_STATE", any, {}, {rtr_rts, rts_rts, sqd_rts, sqe_rts}},
      {IBV_QP_ALT_PATH, "ALT_PATH", connected, {}, {init_rtr, rtr_rts, rts_rts, sqd_rts, sqd_sqd}},
      {IBV_QP_PATH_MIG_STATE, "PATH_MIG_STATE", connected, {}, in_service},
      {IBV_QP_EN_SQD_ASYNC_NOTIFY, "EN_SQD_ASYNC_NOTIFY", any, {}, {rts_sqd}},
      {IBV_QP_CAP, "CAP", 0, {}, {}},
  };
  return all;
}

bool allowed(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to) {
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) return true;
  for (const transition& t :
       {reset_init, init_init, init_rtr, rtr_rts, rts_rts, rts_sqd, sqd_rts, sqd_sqd, sqe_rts})
    if (t.from == from && t.to == to) return (t.types & bit_of(type)) != 0;
  return false;
}

bool listed(const std::vector<transition>& where, unsigned types, ibv_qp_type type, ibv_qp_state from,
            ibv_qp_state to) {
  for (const transition& t : where)
    if (t.from == from && t.to == to && (t.types & types & bit_of(type)) != 0) return true;
  return false;
}

int required(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to) {
  int mask = 0;
  for (const attribute& a : attributes())
    if (listed(a.required, a.types, type, from, to)) mask |= a.bit;
  return mask;
}

/// A queue pair that is moved to any state, with only the attributes that the table requires.
struct subject {
  subject(rig& host, ibv_qp_type kind)
      : r(host), type(kind), queue(r.device, 64), pair(r.domain, options(kind)) {}

  queue_pair_options options(ibv_qp_type kind) { return {.type = kind, .send = &queue, .recv = &queue}; }

  int modify(ibv_qp_state from, ibv_qp_state to, int mask) {
    ibv_qp_attr a{};
    a.qp_state = to;
    a.cur_qp_state = from;
    a.port_num = a.alt_port_num = r.port.number;
    a.qkey = test::qkey;
    a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    a.ah_attr = a.alt_ah_attr = path_to(r.port, r.port.address);
    a.path_mtu = IBV_MTU_256;
    a.dest_qp_num = pair.number();
    a.rq_psn = a.sq_psn = 0xabc;
    a.max_rd_atomic = a.max_dest_rd_atomic = 1;
    a.min_rnr_timer = 12;
    a.timeout = a.alt_timeout = 14;
    a.retry_cnt = a.rnr_retry = 7;
    a.path_mig_state = IBV_MIG_MIGRATED;
    a.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    return errno_of(pair.provider().modify_qp(pair.native(), &a, mask | IBV_QP_STATE));
  }

  void step(ibv_qp_state from, ibv_qp_state to) { REQUIRE(modify(from, to, required(type, from, to)) == 0); }

  /// False if this device cannot reach that state.
  bool go_to(ibv_qp_state wanted) {
    step(pair.state(), IBV_QPS_RESET);
    if (wanted == IBV_QPS_RESET) return true;
    step(IBV_QPS_RESET, IBV_QPS_INIT);
    if (wanted == IBV_QPS_ERR) step(IBV_QPS_INIT, IBV_QPS_ERR);
    if (wanted == IBV_QPS_INIT || wanted == IBV_QPS_ERR) return true;
    step(IBV_QPS_INIT, IBV_QPS_RTR);
    if (wanted == IBV_QPS_RTR) return true;
    step(IBV_QPS_RTR, IBV_QPS_RTS);
    if (wanted == IBV_QPS_RTS) return true;
    if (wanted == IBV_QPS_SQE) return fail_send();
    step(IBV_QPS_RTS, IBV_QPS_SQD);
    drained();
    return true;
  }

  /// SQE is reached by a failing send of an unreliable queue pair.
  bool fail_send() {
    if (type == IBV_QPT_RC) return false;
    ibv_sge bad = r.piece(0, 8);
    bad.lkey += 0x100;
    work send(IBV_WR_SEND, {bad});
    const address_handle way(r.domain, path_to(r.port, r.port.address));
    if (type == IBV_QPT_UD) send.to(way, pair.number());
    send.post(pair);
    CHECK(next(queue).status != IBV_WC_SUCCESS);
    return conforms("a local error takes the send queue of an unreliable queue pair to SQE", pair.state(),
                    IBV_QPS_SQE,
                    {{"rxe", IBV_QPS_ERR,
                      "Soft-RoCE takes any queue pair whose request fails to ERR "
                      "(rxe_comp.c: COMPST_ERROR calls rxe_qp_error)"}});
  }

  void drained() {
    ibv_qp_attr now{};
    ibv_qp_init_attr init{};
    const auto end = chorale::clock::now() + 60s;
    do {
      REQUIRE(pair.provider().query_qp(pair.native(), &now, IBV_QP_STATE, &init) == 0);
      REQUIRE(chorale::clock::now() < end);
    } while (now.sq_draining != 0);
  }

  rig& r;
  ibv_qp_type type;
  completion_queue queue;
  queue_pair pair;
};

constexpr ibv_qp_state states[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
                                   IBV_QPS_SQD,   IBV_QPS_SQE,  IBV_QPS_ERR};

std::string words(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to) {
  return std::string{to_string(type)} + " " + std::string{to_string(from)} + " to " +
         std::string{to_string(to)};
}

/// Tries one mask on a queue pair in `from`; a refusal must not change the state.
void attempt(subject& s, ibv_qp_state from, ibv_qp_state to, int mask, int expected, const char* what,
             std::initializer_list<known<int>> documented = {}) {
  INFO(words(s.type, from, to) << ", " << what);
  REQUIRE(s.go_to(from));
  const int result = s.modify(from, to, mask);
  const std::string rule = "a transition takes the attributes that the specification lists for it";
  conforms(documented.size() == 0 ? rule : rule + ": " + what, result, expected, documented);
  CHECK(s.pair.state() == (result == 0 ? to : from));
}

}  // namespace

TEST_CASE("each transition accepts required and optional attributes, and no others", "[state]") {
  rig r;
  const auto type = GENERATE(IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD);
  subject s(r, type);
  for (const ibv_qp_state from : states) {
    if (!s.go_to(from)) continue;
    for (const ibv_qp_state to : states) {
      if (from == IBV_QPS_SQE && s.type == IBV_QPT_RC) continue;
      const int base = required(type, from, to);
      if (!allowed(type, from, to)) {
        attempt(s, from, to, 0, EINVAL, "forbidden");
        attempt(s, from, to, required(type, IBV_QPS_INIT, IBV_QPS_RTR), EINVAL, "forbidden");
        attempt(s, from, to, required(type, IBV_QPS_RTR, IBV_QPS_RTS), EINVAL, "forbidden");
        continue;
      }
      if (from == IBV_QPS_RESET && to == IBV_QPS_ERR) {
        attempt(s, from, to, 0, 0, "any state may go to ERR",
                {{"rxe", EINVAL, "the kernel refuses RESET to ERR (core/verbs.c: qp_state_table)"}});
        continue;
      }
      attempt(s, from, to, base, 0, "with what is required");
      for (const attribute& a : attributes()) {
        if (listed(a.required, a.types, type, from, to)) {
          attempt(s, from, to, base & ~a.bit, EINVAL, (std::string{"without "} + a.name).c_str());
        } else if (!listed(a.optional, a.types, type, from, to)) {
          attempt(s, from, to, base | a.bit, EINVAL, (std::string{"with "} + a.name).c_str());
        } else if (a.bit == IBV_QP_ALT_PATH) {
          attempt(s, from, to, base | a.bit, 0, "with an alternate path",
                  {{"rxe", EINVAL, "RoCE has no alternate paths (core/verbs.c: _ib_modify_qp)"}});
        } else if (a.bit == IBV_QP_AV && type == IBV_QPT_UC) {
          attempt(s, from, to, base | a.bit, 0, "with another path of UC",
                  {{"rxe", EINVAL,
                    "the kernel adds the port to it, which it refuses for UC "
                    "(core/uverbs_cmd.c: modify_qp)"}});
        } else {
          attempt(s, from, to, base | a.bit, 0, (std::string{"with "} + a.name).c_str());
        }
      }
    }
  }
}

TEST_CASE("a transition from another state than the one named is refused", "[state]") {
  rig r;
  subject s(r, IBV_QPT_RC);
  REQUIRE(s.go_to(IBV_QPS_RTR));
  // All attributes that RTR to RTS requires, but from RTS.
  CHECK(s.modify(IBV_QPS_RTS, IBV_QPS_RTS,
                 IBV_QP_CUR_STATE | required(IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS)) == EINVAL);
  CHECK(s.pair.state() == IBV_QPS_RTR);
  // RTS to RTS has no required attribute: it would be valid if the queue pair were there.
  conforms("IBV_QP_CUR_STATE must name the state that the queue pair is in",
           s.modify(IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_CUR_STATE), EINVAL,
           {{"rxe", 0, "Soft-RoCE takes the caller's word for the state (rxe_qp.c: rxe_qp_chk_attr)"}});
}

TEST_CASE("requests posted in SQD wait for RTS", "[state]") {
  rig r;
  joined l(r);
  ibv_qp_attr a{};
  ibv_qp_init_attr init{};
  const auto go = [&](ibv_qp_state to) {
    a.qp_state = to;
    return errno_of(l.left.provider().modify_qp(l.left.native(), &a, IBV_QP_STATE));
  };
  REQUIRE(go(IBV_QPS_SQD) == 0);
  do REQUIRE(l.left.provider().query_qp(l.left.native(), &a, IBV_QP_STATE, &init) == 0);
  while (a.sq_draining != 0);
  r.buffer.data()[0] = std::byte{7};
  rdma(r, IBV_WR_RDMA_WRITE, 0, 1).post(l.left);
  CHECK(test::stays_empty(l.sends, quiet));
  CHECK(r.buffer.data()[remote] == std::byte{0});
  // The receive queue still works.
  receive(l.left, 3, {r.piece(100, 8)});
  work(IBV_WR_SEND, {r.piece(0, 1)}).post(l.right);
  CHECK(good(l.sends).wr_id == 3);
  good(l.arrivals);
  REQUIRE(go(IBV_QPS_RTS) == 0);
  if (!holds("what was posted in SQD is executed when RTS is entered again",
             !test::stays_empty(l.sends, device_family() == "soft" ? 30s : 500ms),
             {{"rxe", false,
               "Soft-RoCE goes on when the next request is posted (rxe_qp.c: rxe_qp_from_attr starts no "
               "task)"}})) {
    rdma(r, IBV_WR_RDMA_WRITE, 0, 1).id(2).post(l.left);
    CHECK(good(l.sends).wr_id == 1);
    CHECK(good(l.sends).wr_id == 2);
  }
  CHECK(r.buffer.data()[remote] == std::byte{7});
}
