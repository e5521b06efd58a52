// SPDX-License-Identifier: Apache-2.0
#include "queue_pair_faults.hpp"

#include <utility>

#include "completions.hpp"
#include "events.hpp"
#include "hca.hpp"
#include "requester.hpp"

namespace chorale::simulation::device {

void flush_sends(queue_pair& qp) {
  requester& q = qp.sends;
  bool went_well = true;  // as long as all earlier ones did
  while (!q.queue.empty()) {
    const std::uint64_t number = q.first();
    const send_request r = q.queue.pop_front();
    went_well = went_well && r.ended && r.status == IBV_WC_SUCCESS;
    complete(qp, r, number, went_well ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR);
  }
  q.sent = 0;
  q.reads = 0;
  q.busy = 0;
  q.waits = false;
  q.failed = 0;
}

void flush_receives(queue_pair& qp) {
  if (qp.srq != nullptr) {
    if (!std::exchange(qp.last_receive_raised, true)) raise(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
    return;
  }
  while (!qp.receives.posted.empty()) {
    completion c{};
    c.report.wr_id = qp.receives.posted.pop_front().wr_id;
    c.report.status = IBV_WC_WR_FLUSH_ERR;
    c.report.opcode = IBV_WC_RECV;
    c.report.qp_num = qp.qp_num;
    ++qp.receives.unpolled;
    push(static_cast<completion_queue&>(*qp.recv_cq), c);
  }
}

void fail_requester(queue_pair& qp) {
  if (qp.state == IBV_QPS_RTS || qp.state == IBV_QPS_SQD)
    qp.state = qp.reliable() ? IBV_QPS_ERR : IBV_QPS_SQE;
  flush_sends(qp);
  if (qp.state == IBV_QPS_ERR) flush_receives(qp);
}

void fail_responder(queue_pair& qp, ibv_event_type event) {
  if (qp.state == IBV_QPS_RESET || qp.state == IBV_QPS_ERR) return;
  qp.state = IBV_QPS_ERR;
  flush_sends(qp);
  flush_receives(qp);
  raise(qp, event);
}

void fail_overrun(hca& nic, std::uint32_t number) {
  completion_queue* const queue = nic.completion_queues.find(number);
  if (queue == nullptr) return;
  raise(*queue, IBV_EVENT_CQ_ERR);
  nic.queue_pairs.for_each([&](queue_pair& qp) {
    if (qp.send_cq == queue || qp.recv_cq == queue) fail_responder(qp, IBV_EVENT_QP_FATAL);
  });
}

}  // namespace chorale::simulation::device
