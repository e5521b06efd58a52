// SPDX-License-Identifier: Apache-2.0
// QPs that fail: because of their own requests, a peer's, or their completion queue.
#include "queue_pair.hpp"

namespace chorale::soft {

void raise(queue_pair& qp, ibv_event_type type) noexcept {
  ibv_async_event event{};
  event.element.qp = &qp;
  event.event_type = type;
  raise_event(context::of(qp.context), event);
}

void fail_local(queue_pair& qp) noexcept {
  const bool unreliable = qp.qp_type != IBV_QPT_RC;
  std::uint32_t state = IBV_QPS_RTS;
  qp.record->state.compare_exchange_strong(state, unreliable ? IBV_QPS_SQE : IBV_QPS_ERR);
  if (!unreliable) flush_receives(qp);
}

void flush_receives(queue_pair& qp) noexcept {
  if (qp.shared_receives != nullptr) {
    if (!qp.last_receive_raised.exchange(true)) raise(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
    return;
  }
  process& self = *qp.owner;
  const lock_guard lock(qp.receives.record->lock, self.lock_name());
  if (!lock) return;
  for (taken_receive taken; peek_receive(self.own(), *qp.receives.record, taken);) {
    drop_receive(*qp.receives.record);
    completion c{};
    c.wr_id = taken.wr_id;
    c.status = IBV_WC_WR_FLUSH_ERR;
    c.opcode = IBV_WC_RECV;
    c.qp_num = qp.qp_num;
    push_completion(self, *qp.receive_completions, c);
  }
}

void fail_responder(peer& target, qp_record& record, ibv_event_type event) noexcept {
  std::uint32_t none = 0;
  record.responder_error.compare_exchange_strong(none, static_cast<std::uint32_t>(event) + 1);
  std::uint32_t state = record.state.load();
  while (state >= IBV_QPS_INIT && state < IBV_QPS_ERR &&
         !record.state.compare_exchange_weak(state, IBV_QPS_ERR)) {
  }
  target.call_attention();
}

void take_responder_error(queue_pair& qp) noexcept {
  const std::uint32_t code = qp.record->responder_error.exchange(0);
  if (code == 0 || qp.state_now() != IBV_QPS_ERR) return;
  {
    const lock_guard lock(qp.record->send_lock, qp.owner->lock_name());
    if (lock) flush_sends(qp);
  }
  flush_receives(qp);
  // Another process wrote the code: accept only these three.
  const std::uint32_t event = code - 1;
  const bool known = event == IBV_EVENT_QP_REQ_ERR || event == IBV_EVENT_QP_ACCESS_ERR;
  raise(qp, known ? static_cast<ibv_event_type>(event) : IBV_EVENT_QP_FATAL);
}

void take_completion_error(queue_pair& qp) noexcept {
  if (qp.state_now() == IBV_QPS_RESET || qp.state_now() == IBV_QPS_ERR) return;
  (void)leave_service(qp, IBV_QPS_ERR);
  raise(qp, IBV_EVENT_QP_FATAL);
}

}  // namespace chorale::soft
