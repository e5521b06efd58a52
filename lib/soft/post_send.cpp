// SPDX-License-Identifier: Apache-2.0
// ibv_post_send: checks a request, executes it at once if possible, and queues it otherwise.
#include <cerrno>

#include "queue_pair.hpp"

namespace chorale::soft {
namespace {

int post_one(queue_pair& qp, const ibv_send_wr& wr) noexcept {
  const ibv_qp_state state = qp.state_now();
  if (state < IBV_QPS_RTS) return EINVAL;
  if (qp.posted - qp.retired.load(std::memory_order_acquire) >= qp.cap.max_send_wr) return ENOMEM;
  work_request request;
  const auto has_atomics = [&qp] { return qp.owner->profile().atomics != IBV_ATOMIC_NONE; };
  const auto take_address = [&request](const ibv_ah& ah) {
    request.to = &static_cast<const address_handle&>(ah).to;
  };
  request.to = nullptr;
  if (const int status = verbs::read_request(wr, qp.qp_type, qp.cap, has_atomics, take_address, request))
    return status;
  request.sges = wr.sg_list;
  request.sge_count = static_cast<std::uint32_t>(wr.num_sge);
  request.number = qp.posted + 1;
  if (state == IBV_QPS_ERR || state == IBV_QPS_SQE) {
    flush_sends(qp);
    ++qp.posted;
    complete(qp, request, IBV_WC_WR_FLUSH_ERR, 0);
    return 0;
  }
  if (state == IBV_QPS_RTS && qp.stalled.empty() && !qp.owner->motor().deferred()) [[likely]] {
    if (execute_now(qp, request)) {
      ++qp.posted;
      return 0;
    }
  }
  if (!stall(qp, request)) return ENOMEM;
  ++qp.posted;
  return 0;
}

}  // namespace

int post_send(ibv_qp* base, ibv_send_wr* wr, ibv_send_wr** bad) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  const lock_guard lock(qp.record->send_lock, qp.owner->lock_name());
  if (lock && wr != nullptr && wr->next == nullptr && write_at_once(qp, *wr)) [[likely]] {
    ++qp.posted;
    return 0;
  }
  int status = lock ? 0 : EBUSY;
  for (; wr != nullptr && status == 0; wr = wr->next) {
    status = post_one(qp, *wr);
    if (status != 0) break;
  }
  if (status != 0 && bad != nullptr) *bad = wr;
  if (qp.owner->motor().deferred() && lock) {
    qp.owner->motor().tick();
    run_send_queue(qp);
  }
  return status;
}

int post_recv(ibv_qp* base, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  if (qp.shared_receives != nullptr || qp.state_now() == IBV_QPS_RESET) {
    if (bad != nullptr) *bad = wr;
    return EINVAL;
  }
  const int status = post_receives(*qp.owner, qp.receives, wr, bad);
  std::atomic_thread_fence(orders::after_posting);
  if (qp.state_now() == IBV_QPS_ERR) flush_receives(qp);
  return status;
}

}  // namespace chorale::soft
