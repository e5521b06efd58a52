// SPDX-License-Identifier: Apache-2.0
#include "queue_pair.hpp"

#include <algorithm>
#include <cerrno>

#include "../verbs/profile_rules.hpp"
#include "../verbs/queue_pair_attributes.hpp"

namespace chorale::soft {
namespace {

void clear(qp_record& r) noexcept {
  for (auto* field : {&r.destination, &r.access, &r.qkey, &r.read_depth, &r.rnr_timer, &r.path_mtu,
                      &r.responder_error, &r.pkey})
    field->store(0, std::memory_order_relaxed);
}

/// Discards all queued work, once a QP has left service and no peer accesses it any more.
void reset(queue_pair& qp) noexcept {
  process& self = *qp.owner;
  qp.owner->forget_stalled(qp);
  {
    const lock_guard lock(qp.record->send_lock, self.lock_name());
    qp.stalled.clear();
    place_late(qp, true);
    qp.stalled_count.store(0);
    qp.posted = 0;
    qp.target = nullptr;
    qp.connected_here = false;
    qp.silent_since = qp.not_ready_since = 0;
    qp.attributes = {};
  }
  if (qp.shared_receives == nullptr) {
    receive_queue_record& r = *qp.receives.record;
    const lock_guard lock(r.lock, self.lock_name());
    r.head.store(r.tail.load());
    r.tail_seen.store(r.tail.load());
  }
  purge_completions(self, *qp.receive_completions, qp.qp_num);
  if (qp.send_completions != qp.receive_completions) purge_completions(self, *qp.send_completions, qp.qp_num);
  qp.retired.store(0);
  // After the purge, so that no earlier completion is counted in addition.
  if (qp.shared_receives == nullptr) qp.receives.polled.store(qp.receives.record->head.load());
  clear(*qp.record);
}

/// Stores the new attributes where the engine and the peers read them. The caller holds the send lock.
void apply(queue_pair& qp, const ibv_qp_attr& a, int mask) noexcept {
  ibv_qp_attr& kept = qp.attributes;
  verbs::keep(kept, a, mask);
  qp_record& r = *qp.record;
  r.pkey.store(qp.owner->profile().pkeys[kept.pkey_index]);
  r.access.store(kept.qp_access_flags);
  r.qkey.store(kept.qkey);
  r.path_mtu.store(kept.path_mtu);
  r.rnr_timer.store(kept.min_rnr_timer);
  r.read_depth.store(kept.max_dest_rd_atomic);
  if ((mask & (IBV_QP_AV | IBV_QP_DEST_QPN)) != 0) attach(qp);
}

/// Fills the record of a QP that has its index.
void publish(queue_pair& qp) noexcept {
  process& self = *qp.owner;
  qp.qp_num = qp.handle = qp_number(self.slot(), qp.index);
  qp.record = &self.own().qps[qp.index];
  qp_record& r = *qp.record;
  clear(r);
  const receive_queue& receives = qp.shared_receives == nullptr ? qp.receives : qp.shared_receives->queue;
  r.type.store(qp.qp_type);
  r.pd.store(qp.pd_id);
  r.receive_queue.store(self.memory().offset_of(receives.record));
  r.receive_cq.store(self.memory().offset_of(qp.receive_completions->record));
  r.shared_receive_queue.store(qp.shared_receives == nullptr ? 0 : 1);
}

}  // namespace

void attach(queue_pair& qp) noexcept {
  // The destination of no QP: requests of the peer then find no answer, and this QP's find no peer.
  constexpr std::uint32_t detached = 1U << 31;
  const bool up = qp.owner->own().port_down.load() == 0;
  qp.record->destination.store(qp.attributes.dest_qp_num | (up ? 0 : detached));
  qp.connected_here = up && !resolve(*qp.owner, qp.attributes.ah_attr).multicast;
  qp.target = nullptr;
}

int leave_service(queue_pair& qp, ibv_qp_state to) noexcept {
  {
    const lock_guard lock(qp.record->send_lock, qp.owner->lock_name());
    if (!lock) return EBUSY;
    qp.record->state.store(to, std::memory_order_seq_cst);
  }
  // Without holding a lock: the peer may be doing the same.
  if (!qp.owner->quiesce(&qp)) return EBUSY;
  if (to == IBV_QPS_RESET) {
    reset(qp);
    return 0;
  }
  const lock_guard lock(qp.record->send_lock, qp.owner->lock_name());
  if (!lock) return EBUSY;
  flush_sends(qp);
  flush_receives(qp);
  return 0;
}

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* init) noexcept {
  process& self = process_of(pd->context);
  errno = self.abandoned() ? EINVAL : verbs::grant(self.profile(), *init);
  if (errno != 0) return nullptr;
  auto* qp = make_object<queue_pair>(pd->context);
  if (qp == nullptr) return nullptr;
  qp->owner = &self;
  verbs::fill(*qp, pd, *init, qp->cap);
  qp->pd_id = static_cast<protection_domain*>(pd)->id;
  qp->send_completions = static_cast<completion_queue*>(init->send_cq);
  qp->receive_completions = static_cast<completion_queue*>(init->recv_cq);
  qp->shared_receives = static_cast<shared_receive_queue*>(init->srq);
  qp->signal_all = init->sq_sig_all != 0;
  qp->ordinal = self.motor().next_ordinal();
  int status = init->srq == nullptr ? open_receive_queue(self, qp->receives, qp->cap.max_recv_wr,
                                                         qp->cap.max_recv_sge, qp->pd_id)
                                    : 0;
  if (status == 0) {
    try {
      const std::lock_guard lock(self.objects_mutex());
      qp->index = self.queue_pairs().size() < self.profile().queue_pairs ? self.next_qp_index() : 0;
      if (qp->index == 0) throw std::bad_alloc();
      publish(*qp);
      self.queue_pairs().push_back(qp);
      self.qp_table()[qp->index].store(qp);
    } catch (...) {
      status = ENOMEM;
    }
  }
  if (status != 0) {
    close_receive_queue(self, qp->receives);
    destroy_object(qp);
    errno = status;
    return nullptr;
  }
  qp->send_completions->users.fetch_add(1);
  qp->receive_completions->users.fetch_add(1);
  if (qp->shared_receives != nullptr) qp->shared_receives->users.fetch_add(1);
  static_cast<protection_domain*>(pd)->users.fetch_add(1);
  return qp;
}

int modify_qp(ibv_qp* base, ibv_qp_attr* a, int mask) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  if (qp.owner->abandoned()) return EINVAL;
  const std::lock_guard guard(qp.attributes_mutex);
  const ibv_qp_state from = qp.state_now();
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? a->qp_state : from;
  if (const int status = verbs::check_change(qp.owner->profile(), qp.qp_type, from, *a, mask)) return status;
  if (qp.owner->failed() && to != IBV_QPS_RESET && to != IBV_QPS_ERR) return EIO;
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) {
    if (const int status = leave_service(qp, to)) return status;
    if (to == IBV_QPS_RESET) qp.last_receive_raised.store(false);
    qp.state = to;
    return 0;
  }
  {
    const lock_guard lock(qp.record->send_lock, qp.owner->lock_name());
    if (!lock) return EBUSY;
    apply(qp, *a, mask);
    // A peer may have moved the QP to ERR meanwhile.
    auto expected = static_cast<std::uint32_t>(from);
    if (from != to && !qp.record->state.compare_exchange_strong(expected, to)) return EINVAL;
    if (to == IBV_QPS_SQD && from != to) run_send_queue(qp, true);
  }
  qp.state = to;
  if (to == IBV_QPS_SQD && from != to && qp.attributes.en_sqd_async_notify != 0)
    raise(qp, IBV_EVENT_SQ_DRAINED);
  if (to == IBV_QPS_RTS && has_stalled(qp)) qp.owner->wake_service();
  return 0;
}

int query_qp(ibv_qp* base, ibv_qp_attr* a, int, ibv_qp_init_attr* init) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  if (qp.owner->abandoned()) return EINVAL;
  const std::lock_guard guard(qp.attributes_mutex);
  *a = qp.attributes;
  a->qp_state = a->cur_qp_state = qp.state_now();
  a->cap = qp.cap;
  qp.state = a->qp_state;
  if (init != nullptr) *init = verbs::created_with(qp, qp.cap, qp.signal_all);
  return 0;
}

int query_qp_data_in_order(ibv_qp* qp, ibv_wr_opcode, std::uint32_t flags) noexcept {
  return verbs::data_in_order(static_cast<const queue_pair*>(qp)->owner->motor().settings.in_order, flags);
}

int destroy_qp(ibv_qp* base) noexcept {
  auto* qp = static_cast<queue_pair*>(base);
  process& self = *qp->owner;
  if (!self.abandoned()) {
    const std::lock_guard guard(qp->attributes_mutex);
    if (!qp->groups.empty()) return EBUSY;
  }
  if (self.abandoned()) {
    // It is the parent's: free only private memory.
    qp->groups.clear();
  } else if (const int status = leave_service(*qp, IBV_QPS_RESET)) {
    return status;
  }
  if (!settle_events(context::of(qp->context), base, qp->asynchronous)) return EBUSY;
  {
    const std::lock_guard lock(self.objects_mutex());
    std::erase(self.queue_pairs(), qp);
    qp->record->receive_queue.store(0);
    qp->record->receive_cq.store(0);
    self.qp_table()[qp->index].store(nullptr);
  }
  close_receive_queue(self, qp->receives);
  qp->send_completions->users.fetch_sub(1);
  qp->receive_completions->users.fetch_sub(1);
  if (qp->shared_receives != nullptr) qp->shared_receives->users.fetch_sub(1);
  static_cast<protection_domain*>(qp->pd)->users.fetch_sub(1);
  destroy_object(qp);
  return 0;
}

}  // namespace chorale::soft
