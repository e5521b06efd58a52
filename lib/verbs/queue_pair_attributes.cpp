// SPDX-License-Identifier: Apache-2.0
#include "queue_pair_attributes.hpp"

#include <cerrno>

namespace chorale::verbs {
namespace {

/// Masks of one transition for one type of QP.
struct masks {
  int required;
  int optional;
};

struct transition {
  ibv_qp_state from;
  ibv_qp_state to;
  masks rc;
  masks uc;
  masks ud;
};

constexpr int init_connected = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int init_ud = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
constexpr int path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
constexpr int late_connected = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX;
constexpr int late_ud = IBV_QP_PKEY_INDEX | IBV_QP_QKEY;
constexpr int live_uc = IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE;
constexpr int live_rc = live_uc | IBV_QP_MIN_RNR_TIMER;
constexpr int live_ud = IBV_QP_CUR_STATE | IBV_QP_QKEY;
constexpr int drain = IBV_QP_EN_SQD_ASYNC_NOTIFY;
constexpr int drained_uc =
    IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PATH_MIG_STATE;
constexpr int drained_rc = drained_uc | IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

constexpr transition transitions[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, {init_connected, 0}, {init_connected, 0}, {init_ud, 0}},
    {IBV_QPS_INIT, IBV_QPS_INIT, {0, init_connected}, {0, init_connected}, {0, init_ud}},
    {IBV_QPS_INIT,
     IBV_QPS_RTR,
     {path | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, late_connected},
     {path, late_connected},
     {0, late_ud}},
    {IBV_QPS_RTR,
     IBV_QPS_RTS,
     {IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
      live_rc},
     {IBV_QP_SQ_PSN, live_uc},
     {IBV_QP_SQ_PSN, live_ud}},
    {IBV_QPS_RTS, IBV_QPS_RTS, {0, live_rc}, {0, live_uc}, {0, live_ud}},
    {IBV_QPS_RTS, IBV_QPS_SQD, {0, drain}, {0, drain}, {0, drain}},
    {IBV_QPS_SQD, IBV_QPS_RTS, {0, live_rc}, {0, live_uc}, {0, live_ud}},
    {IBV_QPS_SQD, IBV_QPS_SQD, {0, drained_rc}, {0, drained_uc}, {0, late_ud}},
    {IBV_QPS_SQE, IBV_QPS_RTS, {0, 0}, {0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS}, {0, live_ud}},
};

}  // namespace

int check_transition(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask) noexcept {
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) return (mask & ~IBV_QP_STATE) == 0 ? 0 : EINVAL;
  for (const transition& t : transitions) {
    if (t.from != from || t.to != to) continue;
    if (from == IBV_QPS_SQE && type == IBV_QPT_RC) return EINVAL;
    const masks& allowed = type == IBV_QPT_UD ? t.ud : type == IBV_QPT_UC ? t.uc : t.rc;
    return (mask & allowed.required) == allowed.required &&
                   (mask & ~(allowed.required | allowed.optional | IBV_QP_STATE)) == 0
               ? 0
               : EINVAL;
  }
  return EINVAL;
}

// Access flags are not checked: for a queue pair only the three remote rights matter, and the kernel's
// drivers also accept and ignore the flags of memory regions (on demand, relaxed ordering, windows).
int check_values(const ibv_qp_attr& a, int mask) noexcept {
  const auto wrong = [&](int bit, bool good) { return (mask & bit) != 0 && !good; };
  if (wrong(IBV_QP_PORT, a.port_num == 1) ||
      wrong(IBV_QP_PATH_MTU, a.path_mtu >= IBV_MTU_256 && a.path_mtu <= IBV_MTU_4096) ||
      wrong(IBV_QP_DEST_QPN, a.dest_qp_num <= 0xffffff) || wrong(IBV_QP_TIMEOUT, a.timeout <= 31) ||
      wrong(IBV_QP_RETRY_CNT, a.retry_cnt <= 7) || wrong(IBV_QP_RNR_RETRY, a.rnr_retry <= 7) ||
      wrong(IBV_QP_MIN_RNR_TIMER, a.min_rnr_timer <= 31))
    return EINVAL;
  return 0;
}

void keep(ibv_qp_attr& kept, const ibv_qp_attr& a, int mask) noexcept {
  const auto has = [mask](int bit) { return (mask & bit) != 0; };
  if (has(IBV_QP_PKEY_INDEX)) kept.pkey_index = a.pkey_index;
  if (has(IBV_QP_PORT)) kept.port_num = a.port_num;
  if (has(IBV_QP_ACCESS_FLAGS)) kept.qp_access_flags = a.qp_access_flags;
  if (has(IBV_QP_QKEY)) kept.qkey = a.qkey;
  if (has(IBV_QP_PATH_MTU)) kept.path_mtu = a.path_mtu;
  if (has(IBV_QP_DEST_QPN)) kept.dest_qp_num = a.dest_qp_num;
  if (has(IBV_QP_RQ_PSN)) kept.rq_psn = a.rq_psn & 0xffffffU;
  if (has(IBV_QP_SQ_PSN)) kept.sq_psn = a.sq_psn & 0xffffffU;
  if (has(IBV_QP_TIMEOUT)) kept.timeout = a.timeout;
  if (has(IBV_QP_RETRY_CNT)) kept.retry_cnt = a.retry_cnt;
  if (has(IBV_QP_RNR_RETRY)) kept.rnr_retry = a.rnr_retry;
  if (has(IBV_QP_MIN_RNR_TIMER)) kept.min_rnr_timer = a.min_rnr_timer;
  if (has(IBV_QP_MAX_QP_RD_ATOMIC)) kept.max_rd_atomic = a.max_rd_atomic;
  if (has(IBV_QP_MAX_DEST_RD_ATOMIC)) kept.max_dest_rd_atomic = a.max_dest_rd_atomic;
  if (has(IBV_QP_PATH_MIG_STATE)) kept.path_mig_state = a.path_mig_state;
  if (has(IBV_QP_EN_SQD_ASYNC_NOTIFY)) kept.en_sqd_async_notify = a.en_sqd_async_notify;
  if (has(IBV_QP_ALT_PATH)) {
    kept.alt_ah_attr = a.alt_ah_attr;
    kept.alt_pkey_index = a.alt_pkey_index;
    kept.alt_port_num = a.alt_port_num;
    kept.alt_timeout = a.alt_timeout;
  }
  if (has(IBV_QP_AV)) kept.ah_attr = a.ah_attr;
}

}  // namespace chorale::verbs
