// ibv_post_send: checks a request, executes it at once if possible, and queues it otherwise.
#include <cerrno>

#include "queue_pair.hpp"

namespace chorale::soft {
namespace {

/// 0, or the errno with which a request is refused.
int check(const queue_pair& qp, const ibv_send_wr& wr, work_request& out) noexcept {
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > qp.cap.max_send_sge) return EINVAL;
  const bool datagram = qp.qp_type == IBV_QPT_UD;
  const bool reliable = qp.qp_type == IBV_QPT_RC;
  out.remote_address = wr.wr.rdma.remote_addr;
  out.rkey = wr.wr.rdma.rkey;
  switch (wr.opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      break;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      if (datagram) return EINVAL;
      break;
    case IBV_WR_RDMA_READ:
      if (!reliable || (wr.send_flags & IBV_SEND_INLINE) != 0) return EINVAL;
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      if (!reliable || qp.owner->profile().atomics == IBV_ATOMIC_NONE ||
          (wr.send_flags & IBV_SEND_INLINE) != 0)
        return EINVAL;
      out.remote_address = wr.wr.atomic.remote_addr;
      out.rkey = wr.wr.atomic.rkey;
      out.compare_add = wr.wr.atomic.compare_add;
      out.swap = wr.wr.atomic.swap;
      break;
    default:
      return EINVAL;
  }
  out.wr_id = wr.wr_id;
  out.opcode = wr.opcode;
  out.flags = wr.send_flags;
  out.imm = wr.imm_data;
  out.sges = wr.sg_list;
  out.sge_count = static_cast<std::uint32_t>(wr.num_sge);
  out.bytes = 0;
  for (int i = 0; i < wr.num_sge; ++i) out.bytes += wr.sg_list[i].length;
  if ((wr.send_flags & IBV_SEND_INLINE) != 0 && out.bytes > qp.cap.max_inline_data) return EINVAL;
  out.to = nullptr;
  if (datagram) {
    if (wr.wr.ud.ah == nullptr) return EINVAL;
    out.to = &static_cast<const address_handle*>(wr.wr.ud.ah)->to;
    out.remote_qpn = wr.wr.ud.remote_qpn & 0xffffffU;
    out.remote_qkey = wr.wr.ud.remote_qkey;
  }
  return 0;
}

int post_one(queue_pair& qp, const ibv_send_wr& wr) noexcept {
  const ibv_qp_state state = qp.state_now();
  if (state < IBV_QPS_RTS) return EINVAL;
  if (qp.posted - qp.retired.load(std::memory_order_acquire) >= qp.cap.max_send_wr) return ENOMEM;
  work_request request;
  if (const int status = check(qp, wr, request)) return status;
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
