// ibv_post_send: execute at once where possible, queue in order where not.
#include <algorithm>
#include <cerrno>
#include <limits>

#include "queue_pair.hpp"

namespace chorale::soft {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
/// Between looks at a target that does not answer: a look may open files.
constexpr std::int64_t silence_pause_ns = 50'000;

ibv_wc_opcode completed_opcode(ibv_wr_opcode opcode) noexcept {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_WC_FETCH_ADD;
    default:
      return IBV_WC_SEND;
  }
}

void complete(queue_pair& qp, const work_request& wr, ibv_wc_status status, std::uint32_t byte_len) noexcept {
  if (status == IBV_WC_SUCCESS && !qp.signal_all && (wr.flags & IBV_SEND_SIGNALED) == 0) return;
  completion c{};
  c.wr_id = wr.wr_id;
  c.status = status;
  c.opcode = completed_opcode(wr.opcode);
  c.byte_len = byte_len;
  c.qp_num = qp.qp_num;
  c.send_count = wr.number;
  push_completion(*qp.owner, *qp.send_completions, c);
}

/// A responder's min_rnr_timer code as nanoseconds (IBTA table 45).
std::int64_t rnr_ns(std::uint32_t code) noexcept {
  static constexpr std::uint32_t tens_of_us[32] = {
      65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
      256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return std::int64_t{tens_of_us[code & 31U]} * 10'000;
}

std::int64_t transport_ns(const queue_pair& qp) noexcept {
  if (qp.attributes.timeout == 0) return never;
  return (std::int64_t{4096} << (qp.attributes.timeout & 31)) * (qp.attributes.retry_cnt + 1);
}

/// Executes one request and accounts for it. False if it has to wait.
bool attempt(queue_pair& qp, const work_request& wr) noexcept {
  const outcome result = qp.qp_type == IBV_QPT_UD ? execute_ud(qp, wr) : execute_connected(qp, wr);
  if (result.kind == outcome::done) [[likely]] {
    if ((qp.silent_since | qp.not_ready_since) != 0) qp.silent_since = qp.not_ready_since = 0;
    complete(qp, wr, IBV_WC_SUCCESS, result.byte_len);
    return true;
  }
  ibv_wc_status status = result.status;
  if (result.kind == outcome::silent) {
    const std::int64_t now = now_ns();
    const std::int64_t patience = transport_ns(qp);
    qp.not_ready_since = 0;
    if (qp.silent_since == 0) qp.silent_since = now;
    qp.next_attempt = now + silence_pause_ns;
    if (patience == never || now - qp.silent_since < patience) return false;
    status = IBV_WC_RETRY_EXC_ERR;
  } else if (result.kind == outcome::not_ready) {
    const std::int64_t now = now_ns();
    qp.silent_since = 0;
    if (qp.not_ready_since == 0) qp.not_ready_since = now;
    if (qp.attributes.rnr_retry == 7 ||
        now - qp.not_ready_since < qp.attributes.rnr_retry * rnr_ns(result.rnr_timer))
      return false;
    status = IBV_WC_RNR_RETRY_EXC_ERR;
  }
  complete(qp, wr, status, 0);
  fail_local(qp);
  return true;
}

/// 0, or why a request cannot be posted at all.
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
      if (!reliable || (wr.send_flags & IBV_SEND_INLINE) != 0) return EINVAL;
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

/// Keeps a request for later. False if there is no memory.
bool stall(queue_pair& qp, const work_request& wr) noexcept {
  try {
    qp.stalled.emplace_back();
    stalled_request& kept = qp.stalled.back();
    try {
      kept.wr = wr;
      kept.sges.assign(wr.sges, wr.sges + wr.sge_count);
      if ((wr.flags & IBV_SEND_INLINE) != 0) {
        kept.inline_data.reserve(wr.bytes);
        for (const ibv_sge& s : kept.sges) {
          const auto* data = reinterpret_cast<const unsigned char*>(s.addr);
          kept.inline_data.insert(kept.inline_data.end(), data, data + s.length);
        }
        kept.sges.assign(1, {reinterpret_cast<std::uint64_t>(kept.inline_data.data()),
                             static_cast<std::uint32_t>(wr.bytes), 0});
      }
      if (wr.to != nullptr) {
        kept.to = *wr.to;
        kept.wr.to = &kept.to;
      }
      kept.wr.sges = kept.sges.data();
      kept.wr.sge_count = static_cast<std::uint32_t>(kept.sges.size());
    } catch (...) {
      qp.stalled.pop_back();
      return false;
    }
    qp.stalled_count.store(static_cast<std::uint32_t>(qp.stalled.size()));
    if (!qp.owner->add_stalled(qp)) {
      qp.stalled.pop_back();
      qp.stalled_count.store(static_cast<std::uint32_t>(qp.stalled.size()));
      return false;
    }
    return true;
  } catch (...) {
    return false;
  }
}

int post_one(queue_pair& qp, const ibv_send_wr& wr) noexcept {
  const ibv_qp_state state = qp.state_now();
  if (state < IBV_QPS_RTS) return EINVAL;
  if (qp.posted - qp.retired.load(std::memory_order_acquire) >= qp.cap.max_send_wr) return ENOMEM;
  work_request request;
  if (const int status = check(qp, wr, request)) return status;
  request.number = qp.posted + 1;
  if (state == IBV_QPS_RTS && qp.stalled.empty()) [[likely]] {
    if (attempt(qp, request)) {
      ++qp.posted;
      return 0;
    }
  } else if (state == IBV_QPS_ERR || state == IBV_QPS_SQE) {
    ++qp.posted;
    complete(qp, request, IBV_WC_WR_FLUSH_ERR, 0);
    return 0;
  }
  if (!stall(qp, request)) return ENOMEM;
  ++qp.posted;
  return 0;
}

}  // namespace

bool gather(queue_pair& qp, const work_request& wr, std::uint32_t access,
            std::array<local_piece, max_sge>& pieces) noexcept {
  const bool copied = (wr.flags & IBV_SEND_INLINE) != 0;
  for (std::uint32_t i = 0; i < wr.sge_count; ++i) {
    const ibv_sge& s = wr.sges[i];
    if (!copied && !local_range(qp.owner->own(), s, qp.pd_id, access)) return false;
    pieces[i] = {reinterpret_cast<unsigned char*>(s.addr), s.length};
  }
  return true;
}

int post_send(ibv_qp* base, ibv_send_wr* wr, ibv_send_wr** bad) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  const lock_guard lock(qp.record->send_lock, qp.owner->lock_name());
  int status = lock ? 0 : EBUSY;
  for (; wr != nullptr && status == 0; wr = wr->next) {
    status = post_one(qp, *wr);
    if (status != 0) break;
  }
  if (status != 0 && bad != nullptr) *bad = wr;
  return status;
}

int post_recv(ibv_qp* base, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  if (qp.shared_receives != nullptr || qp.state_now() == IBV_QPS_RESET) {
    if (bad != nullptr) *bad = wr;
    return EINVAL;
  }
  const int status = post_receives(*qp.owner, qp.receives, wr, bad);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (qp.state_now() == IBV_QPS_ERR) flush_receives(qp);
  return status;
}

bool advance(queue_pair& qp) noexcept {
  if (!qp.record->send_lock.try_lock(qp.owner->lock_name())) return false;
  while (!qp.stalled.empty()) {
    const ibv_qp_state state = qp.state_now();
    if (state == IBV_QPS_ERR || state == IBV_QPS_SQE) {
      flush_sends(qp);
      break;
    }
    if (qp.silent_since != 0 && now_ns() < qp.next_attempt) break;
    if (state != IBV_QPS_RTS || !attempt(qp, qp.stalled.front().wr)) break;
    qp.stalled.pop_front();
    qp.stalled_count.store(static_cast<std::uint32_t>(qp.stalled.size()));
  }
  const bool none = qp.stalled.empty();
  qp.record->send_lock.unlock();
  return none;
}

void flush_sends(queue_pair& qp) noexcept {
  for (const stalled_request& waiting : qp.stalled) complete(qp, waiting.wr, IBV_WC_WR_FLUSH_ERR, 0);
  qp.stalled.clear();
  qp.stalled_count.store(0);
}

}  // namespace chorale::soft
