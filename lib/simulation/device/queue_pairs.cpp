// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cerrno>

#include "../../verbs/profile_rules.hpp"
#include "../../verbs/queue_pair_attributes.hpp"
#include "completions.hpp"
#include "events.hpp"
#include "fabric.hpp"
#include "queue_pair.hpp"
#include "queue_pair_faults.hpp"
#include "requester.hpp"
#include "responder.hpp"
#include "verbs.hpp"

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
  verbs::keep(qp.attributes, a, mask);
  if ((mask & IBV_QP_RQ_PSN) != 0) qp.answers.psn = qp.attributes.rq_psn;
  if ((mask & IBV_QP_SQ_PSN) != 0) qp.sends.psn = qp.attributes.sq_psn;
  if ((mask & IBV_QP_AV) != 0) qp.path = resolve(context::of(qp.context), a.ah_attr);
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
    verbs::fill(*qp, pd, *init, qp->cap);
    qp->signal_all = init->sq_sig_all != 0;
    qp->receives.max_wr = qp->cap.max_recv_wr;
    qp->receives.max_sge = qp->cap.max_recv_sge;
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
  // Like an adapter that its driver has abandoned.
  if (qp.nic->failed && (mask & IBV_QP_STATE) != 0 && a->qp_state != IBV_QPS_RESET &&
      a->qp_state != IBV_QPS_ERR)
    return EIO;
  const ibv_qp_state from = qp.state;
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? a->qp_state : from;
  const verbs::device_profile& profile = *context::of(qp.context).profile;
  if (const int status = verbs::check_change(profile, qp.qp_type, from, *a, mask)) return status;
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
