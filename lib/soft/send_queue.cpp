// SPDX-License-Identifier: Apache-2.0
// The send queue: work requests that could not be executed at once, or that the deferred engine holds.
#include <algorithm>
#include <chrono>
#include <limits>

#include <chorale/verbs/driver.hpp>

#include "../verbs/request_rules.hpp"
#include "queue_pair.hpp"

namespace chorale::soft {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
/// Pause between checks of a target that does not respond: a check may open files.
constexpr std::int64_t silence_pause_ns = 50'000;

std::int64_t transport_ns(const queue_pair& qp) noexcept {
  if (qp.attributes.timeout == 0) return never;
  return (std::int64_t{4096} << (qp.attributes.timeout & 31)) * (qp.attributes.retry_cnt + 1);
}

/// Executes one request. False if it has to wait; otherwise sets the contents of its completion.
bool attempt(queue_pair& qp, const work_request& wr, ibv_wc_status& status,
             std::uint32_t& byte_len) noexcept {
  const outcome result = qp.qp_type == IBV_QPT_UD ? execute_ud(qp, wr) : execute_connected(qp, wr);
  byte_len = result.byte_len;
  status = result.status;
  if (result.kind == outcome::done) [[likely]] {
    if ((qp.silent_since | qp.not_ready_since) != 0) qp.silent_since = qp.not_ready_since = 0;
  } else if (result.kind == outcome::silent) {
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
        now - qp.not_ready_since <
            qp.attributes.rnr_retry * std::chrono::nanoseconds{verbs::rnr_time(result.rnr_timer)}.count())
      return false;
    status = IBV_WC_RNR_RETRY_EXC_ERR;
  }
  return true;
}

/// The tagged errno that kept this process from reaching the peer; 0 if the cause is not on this side.
std::uint32_t vendor_error(const queue_pair& qp, const work_request& wr) noexcept {
  const bool datagram = qp.qp_type == IBV_QPT_UD;
  const std::uint32_t other =
      datagram ? wr.remote_qpn : qp.record->destination.load(std::memory_order_relaxed);
  const int why = qp.owner->why_unreachable(slot_of(other));
  return why == 0 ? 0 : verbs::soft_vendor_tag | static_cast<std::uint32_t>(why);
}

std::uint32_t waiting(const queue_pair& qp) noexcept {
  return static_cast<std::uint32_t>(qp.stalled.size() + qp.late.size());
}

void finish(queue_pair& qp, const work_request& wr, ibv_wc_status status, std::uint32_t byte_len) noexcept {
  complete(qp, wr, status, byte_len);
  if (status != IBV_WC_SUCCESS) fail_local(qp);
}

/// Copies a request with everything that the caller may reuse after posting.
void keep(stalled_request& kept, const work_request& wr) {
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
}

/// Executes what may be executed now: in order, except that writes without a fence may overtake a read or an
/// atomic operation that the deferred engine holds.
void execute_queue(queue_pair& qp, bool all) noexcept {
  engine& motor = qp.owner->motor();
  bool overtakes = false;
  for (stalled_request& r : qp.stalled) {
    if (r.executed) {
      if (r.status != IBV_WC_SUCCESS) return;
      continue;
    }
    if (overtakes && ((r.wr.flags & IBV_SEND_FENCE) != 0 || !is_harmless(qp, r.wr))) return;
    if (!all && motor.now() < r.due) {
      motor.remind(r.due);
      if (!r.may_be_overtaken) return;
      overtakes = true;
      continue;
    }
    if (qp.silent_since != 0 && now_ns() < qp.next_attempt) return;
    if (motor.deferred()) spoil_if_changed(qp, r);
    if (!attempt(qp, r.wr, r.status, r.byte_len)) return;
    r.executed = true;
    if (overtakes) motor.counters.overtaken.fetch_add(1, std::memory_order_relaxed);
    if (r.status != IBV_WC_SUCCESS) return;
  }
}

void retire(queue_pair& qp, bool all) noexcept {
  engine& motor = qp.owner->motor();
  while (!qp.stalled.empty() && qp.stalled.front().executed) {
    stalled_request& r = qp.stalled.front();
    if (!all && motor.now() < r.completes) {
      motor.remind(r.completes);
      break;
    }
    const bool failed = r.status != IBV_WC_SUCCESS;
    finish(qp, r.wr, r.status, r.byte_len);
    qp.stalled.pop_front();
    if (!failed) continue;
    // Requests that overtook it may have taken effect, but are flushed like all those after a failure.
    for (stalled_request& behind : qp.stalled) behind.executed = false;
    break;
  }
}

}  // namespace

void complete(queue_pair& qp, const work_request& wr, ibv_wc_status status, std::uint32_t byte_len) noexcept {
  if (status == IBV_WC_SUCCESS && !qp.signal_all && (wr.flags & IBV_SEND_SIGNALED) == 0) return;
  completion c{};
  c.wr_id = wr.wr_id;
  c.status = status;
  c.opcode = verbs::completed_opcode(wr.opcode);
  c.byte_len = byte_len;
  c.qp_num = qp.qp_num;
  c.send_count = wr.number;
  if (status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_LOC_QP_OP_ERR) c.imm = vendor_error(qp, wr);
  push_completion(*qp.owner, *qp.send_completions, c);
}

bool execute_now(queue_pair& qp, const work_request& wr) noexcept {
  ibv_wc_status status = IBV_WC_SUCCESS;
  std::uint32_t byte_len = 0;
  if (!attempt(qp, wr, status, byte_len)) return false;
  finish(qp, wr, status, byte_len);
  return true;
}

bool stall(queue_pair& qp, const work_request& wr) noexcept {
  const auto count = [&] { qp.stalled_count.store(waiting(qp)); };
  try {
    qp.stalled.emplace_back();
    try {
      keep(qp.stalled.back(), wr);
      if (qp.owner->motor().deferred()) defer(qp, qp.stalled.back());
    } catch (...) {
      qp.stalled.pop_back();
      return false;
    }
    count();
    if (qp.owner->add_stalled(qp)) return true;
    qp.stalled.pop_back();
    count();
    return false;
  } catch (...) {
    return false;
  }
}

void run_send_queue(queue_pair& qp, bool all) noexcept {
  if (qp.state_now() == IBV_QPS_RTS || (all && qp.state_now() == IBV_QPS_SQD)) execute_queue(qp, all);
  retire(qp, all);
  place_late(qp, all);
  const ibv_qp_state state = qp.state_now();
  if (state == IBV_QPS_ERR || state == IBV_QPS_SQE) flush_sends(qp);
  qp.stalled_count.store(waiting(qp));
}

bool advance(queue_pair& qp) noexcept {
  if (!qp.record->send_lock.try_lock(qp.owner->lock_name())) return false;
  run_send_queue(qp);
  const bool none = waiting(qp) == 0;
  qp.record->send_lock.unlock();
  return none;
}

void flush_sends(queue_pair& qp) noexcept {
  bool went_well = true;  // true while all earlier ones succeeded
  for (const stalled_request& r : qp.stalled) {
    went_well = went_well && r.executed && r.status == IBV_WC_SUCCESS;
    complete(qp, r.wr, went_well ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR, went_well ? r.byte_len : 0);
  }
  qp.stalled.clear();
  qp.stalled_count.store(waiting(qp));
}

}  // namespace chorale::soft
