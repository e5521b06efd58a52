#include "queue_pairs.hpp"

#include <algorithm>
#include <cerrno>

#include "../../verbs/profile_rules.hpp"
#include "../../verbs/queue_pair_attributes.hpp"
#include "addresses.hpp"
#include "completions.hpp"
#include "context.hpp"
#include "events.hpp"
#include "fabric.hpp"
#include "late_writes.hpp"
#include "queue_pair.hpp"
#include "queue_pair_faults.hpp"
#include "requester.hpp"

namespace chorale::simulation::device {
namespace {

completion_queue& queue_of(ibv_cq* cq) noexcept {
  return static_cast<completion_queue&>(*cq);
}

/// Drops all requests, and the completions that were not polled. Packets already sent stay in flight.
void reset(queue_pair& qp) noexcept {
  const std::uint32_t life = qp.sends.life + 1;
  qp.sends = {};
  qp.sends.life = life;
  place_late(qp);
  qp.answers = {};
  qp.receives.posted.clear();
  qp.receives.unpolled = 0;
  qp.attributes = {};
  qp.path = {};
  qp.last_receive_raised = false;
  qp.state = IBV_QPS_RESET;
  purge(queue_of(qp.recv_cq), qp.qp_num);
  if (qp.send_cq != qp.recv_cq) purge(queue_of(qp.send_cq), qp.qp_num);
}

void apply(queue_pair& qp, const ibv_qp_attr& a, int mask) noexcept {
  ibv_qp_attr& kept = qp.attributes;
  const auto has = [mask](int bit) { return (mask & bit) != 0; };
  if (has(IBV_QP_PKEY_INDEX)) kept.pkey_index = a.pkey_index;
  if (has(IBV_QP_PORT)) kept.port_num = a.port_num;
  if (has(IBV_QP_ACCESS_FLAGS)) kept.qp_access_flags = a.qp_access_flags;
  if (has(IBV_QP_QKEY)) kept.qkey = a.qkey;
  if (has(IBV_QP_PATH_MTU)) kept.path_mtu = a.path_mtu;
  if (has(IBV_QP_DEST_QPN)) kept.dest_qp_num = a.dest_qp_num;
  if (has(IBV_QP_RQ_PSN)) qp.answers.psn = kept.rq_psn = a.rq_psn & 0xffffffU;
  if (has(IBV_QP_SQ_PSN)) qp.sends.psn = kept.sq_psn = a.sq_psn & 0xffffffU;
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
  if (has(IBV_QP_AV)) {
    kept.ah_attr = a.ah_attr;
    qp.path = resolve(context::of(qp.context), a.ah_attr);
  }
}

/// The effects of entering SQD or RTS.
void enter(queue_pair& qp, ibv_qp_state to) {
  if (to == IBV_QPS_SQD) {
    qp.sends.drains = qp.attributes.en_sqd_async_notify != 0;
    if (qp.sends.drains && qp.sends.sent == 0) {
      qp.sends.drains = false;
      raise(qp, IBV_EVENT_SQ_DRAINED);
    }
  }
  if (to == IBV_QPS_RTS) send_on(qp);
}

}  // namespace

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* init) noexcept {
  context& c = context::of(pd->context);
  errno = verbs::grant(*c.profile, *init);
  if (errno == 0 && c.in_use.queue_pairs >= c.profile->queue_pairs) errno = ENOMEM;
  if (errno != 0) return nullptr;
  return unless_short([&]() -> ibv_qp* {
    auto* const qp = make_object<queue_pair>(pd->context);
    qp->nic = &hca_of(pd->context);
    qp->qp_num = qp->handle = qp->nic->queue_pairs.add(*qp);
    if (qp->qp_num == 0) {
      destroy_object(qp);
      throw std::bad_alloc{};
    }
    qp->pd = pd;
    qp->qp_context = init->qp_context;
    qp->qp_type = init->qp_type;
    qp->send_cq = init->send_cq;
    qp->recv_cq = init->recv_cq;
    qp->srq = init->srq;
    qp->signal_all = init->sq_sig_all != 0;
    if (init->srq != nullptr) init->cap.max_recv_wr = init->cap.max_recv_sge = 0;
    qp->cap = init->cap;
    qp->receives.max_wr = qp->cap.max_recv_wr;
    qp->receives.max_sge = qp->cap.max_recv_sge;
    qp->state = IBV_QPS_RESET;
    ++c.in_use.queue_pairs;
    ++queue_of(qp->send_cq).users;
    ++queue_of(qp->recv_cq).users;
    if (qp->srq != nullptr) ++static_cast<shared_receive_queue*>(qp->srq)->users;
    ++static_cast<protection_domain*>(pd)->users;
    return qp;
  });
}

void reset_all(hca& nic, int rank) noexcept {
  nic.queue_pairs.for_each([&](queue_pair& qp) {
    if (qp.rank() == rank) reset(qp);
  });
}

int modify_qp(ibv_qp* base, ibv_qp_attr* a, int mask) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  qp.nic->owner().time().settle();
  // As of an adapter whose driver has given it up.
  if (qp.nic->failed && (mask & IBV_QP_STATE) != 0 && a->qp_state != IBV_QPS_RESET &&
      a->qp_state != IBV_QPS_ERR)
    return EIO;
  const ibv_qp_state from = qp.state;
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? a->qp_state : from;
  if ((mask & IBV_QP_CUR_STATE) != 0 && a->cur_qp_state != from) return EINVAL;
  if (const int status = verbs::check_transition(qp.qp_type, from, to, mask); status != 0) return status;
  if (const int status = verbs::check_values(*a, mask); status != 0) return status;
  if (const int status = verbs::check(*context::of(qp.context).profile, *a, mask); status != 0) return status;
  try {
    if (to == IBV_QPS_RESET) {
      reset(qp);
    } else if (to == IBV_QPS_ERR) {
      qp.state = IBV_QPS_ERR;
      flush_sends(qp);
      flush_receives(qp);
    } else {
      apply(qp, *a, mask);
      qp.state = to;
      if (from != to) enter(qp, to);
    }
    return 0;
  } catch (...) {
    return ENOMEM;
  }
}

int query_qp(ibv_qp* base, ibv_qp_attr* a, int, ibv_qp_init_attr* init) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  qp.nic->owner().time().settle();
  *a = qp.attributes;
  a->qp_state = a->cur_qp_state = qp.state;
  a->sq_draining = qp.state == IBV_QPS_SQD && qp.sends.sent != 0 ? 1 : 0;
  a->cap = qp.cap;
  if (init != nullptr) *init = verbs::created_with(qp, qp.cap, qp.signal_all);
  return 0;
}

/// Unless the profile says otherwise, a message becomes visible at one instant, if memory keeps order.
int query_qp_data_in_order(ibv_qp* qp, ibv_wr_opcode, std::uint32_t flags) noexcept {
  const context& c = context::of(qp->context);
  const bool scatters = placement_of(c) == verbs::placement_order::unordered;
  return verbs::data_in_order(
      c.profile->in_order.value_or(scatters ? verbs::order_answer::none : verbs::order_answer::whole), flags);
}

int destroy_qp(ibv_qp* base) noexcept {
  auto* const qp = static_cast<queue_pair*>(base);
  if (qp->groups != 0) return EBUSY;
  qp->nic->owner().time().settle();
  reset(*qp);
  try {
    if (!settle_events(context::of(qp->context), base, qp->asynchronous)) return EBUSY;
  } catch (...) {
    return EBUSY;
  }
  qp->nic->queue_pairs.remove(qp->qp_num);
  --context::of(qp->context).in_use.queue_pairs;
  --queue_of(qp->send_cq).users;
  --queue_of(qp->recv_cq).users;
  if (qp->srq != nullptr) --static_cast<shared_receive_queue*>(qp->srq)->users;
  --static_cast<protection_domain*>(qp->pd)->users;
  destroy_object(qp);
  return 0;
}

void reset_all(context& c) noexcept {
  c.nic->queue_pairs.for_each([&](queue_pair& qp) {
    if (qp.context == &c) reset(qp);
  });
}

ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* init) noexcept {
  const ibv_srq_attr& a = init->attr;
  context& c = context::of(pd->context);
  errno = verbs::check(*c.profile, *init);
  if (errno == 0 && c.in_use.shared_receive_queues >= c.profile->shared_receive_queues) errno = ENOMEM;
  if (errno != 0) return nullptr;
  return unless_short([&]() -> ibv_srq* {
    auto* const srq = make_object<shared_receive_queue>(pd->context);
    srq->pd = pd;
    srq->srq_context = init->srq_context;
    srq->receives.max_wr = a.max_wr;
    srq->receives.max_sge = a.max_sge;
    init->attr.srq_limit = 0;
    ++c.in_use.shared_receive_queues;
    ++static_cast<protection_domain*>(pd)->users;
    return srq;
  });
}

int modify_srq(ibv_srq* base, ibv_srq_attr* a, int mask) noexcept {
  auto& srq = static_cast<shared_receive_queue&>(*base);
  if ((mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT)) != 0) return EINVAL;
  if ((mask & IBV_SRQ_MAX_WR) != 0 && a->max_wr != srq.receives.max_wr) return EOPNOTSUPP;
  if ((mask & IBV_SRQ_LIMIT) != 0) {
    if (a->srq_limit > srq.receives.max_wr) return EINVAL;
    hca_of(srq.context).owner().time().settle();
    srq.limit = a->srq_limit;
  }
  return 0;
}

int query_srq(ibv_srq* base, ibv_srq_attr* a) noexcept {
  const auto& srq = static_cast<const shared_receive_queue&>(*base);
  hca_of(srq.context).owner().time().settle();
  a->max_wr = srq.receives.max_wr;
  a->max_sge = srq.receives.max_sge;
  a->srq_limit = srq.limit;
  return 0;
}

int destroy_srq(ibv_srq* base) noexcept {
  auto* const srq = static_cast<shared_receive_queue*>(base);
  if (srq->users != 0) return EBUSY;
  try {
    if (!settle_events(context::of(srq->context), base, srq->asynchronous)) return EBUSY;
  } catch (...) {
    return EBUSY;
  }
  --context::of(srq->context).in_use.shared_receive_queues;
  --static_cast<protection_domain*>(srq->pd)->users;
  destroy_object(srq);
  return 0;
}

}  // namespace chorale::simulation::device
