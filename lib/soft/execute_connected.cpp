// SPDX-License-Identifier: Apache-2.0
// Executes one request of a connection, reliable or not: the initiator also does the target's part. Where a
// reliable connection reports an error or waits, an unreliable one drops the message silently (IBTA 9.8.3,
// 9.9.3.2).
#include <algorithm>

#include "claim.hpp"
#include "context_cache.hpp"
#include "queue_pair.hpp"
#include "written_lines.hpp"

namespace chorale::soft {
namespace {

/// The peer whose QP this one is connected to; nullptr if it does not exist, or the ports do not reach each
/// other.
[[gnu::noinline]] peer* find_connected_peer(queue_pair& qp, std::uint32_t destination) noexcept {
  peer* const found = qp.connected_here ? qp.owner->find_peer(slot_of(destination)) : nullptr;
  if (found == nullptr) return nullptr;
  const address_vector path = resolve(*qp.owner, qp.attributes.ah_attr);
  return path.reachable || (path.by_ports && reaches(qp, path, *found, destination)) ? found : nullptr;
}

/// The record of the QP that this one is connected to; nullptr while it would not respond.
[[gnu::always_inline]] inline qp_record* find_target(queue_pair& qp) noexcept {
  const std::uint32_t destination = qp.record->destination.load(std::memory_order_relaxed);
  if (qp.target == nullptr || qp.target->dead.load(std::memory_order_relaxed)) [[unlikely]] {
    qp.target = find_connected_peer(qp, destination);
    if (qp.target == nullptr) return nullptr;
  }
  qp_record& record = qp.target->base->qps[index_of(destination)];
  const std::uint32_t state = record.state.load(orders::behind_lock);
  if ((state == IBV_QPS_RTS || state == IBV_QPS_RTR || state == IBV_QPS_SQD) &&
      record.destination.load(std::memory_order_relaxed) == qp.qp_num &&
      record.type.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(qp.qp_type)) [[likely]]
    return &record;
  // Its process may have left and joined again: look it up again next time.
  qp.target = nullptr;
  return nullptr;
}

/// The target rejects the request.
outcome refuse(queue_pair& qp, qp_record& record, ibv_wc_status status, ibv_event_type event) noexcept {
  if (!reliable(qp)) return {};
  // Data read from a process that died meanwhile are zeroes.
  if (qp.target->dead.load()) return outcome::silence();
  fail_responder(*qp.target, record, event);
  return outcome::failure(status);
}

/// The target's own receive is invalid; the target learns of it in any case.
outcome fail_both(queue_pair& qp, qp_record& record, ibv_wc_status status) noexcept {
  if (qp.target->dead.load()) return reliable(qp) ? outcome::silence() : outcome{};
  fail_responder(*qp.target, record, IBV_EVENT_QP_FATAL);
  return reliable(qp) ? outcome::failure(status) : outcome{};
}

outcome no_answer(const queue_pair& qp) noexcept {
  return reliable(qp) ? outcome::silence() : outcome{};
}

outcome no_receive(const queue_pair& qp, const qp_record& record) noexcept {
  if (!reliable(qp)) return {};
  return {outcome::not_ready, IBV_WC_SUCCESS, 0, record.rnr_timer.load(std::memory_order_relaxed)};
}

outcome as_outcome(queue_pair& qp, qp_record& record, access_status result) noexcept {
  if (result == access_status::silent) return no_answer(qp);
  return fail_both(qp, record, IBV_WC_REM_OP_ERR);
}

completion received(const queue_pair& qp, const work_request& wr, const taken_receive& taken) noexcept {
  completion c{};
  c.wr_id = taken.wr_id;
  c.opcode = wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
  c.byte_len = static_cast<std::uint32_t>(wr.bytes);
  if (wr.opcode != IBV_WR_SEND) {
    c.imm = wr.imm;
    c.wc_flags = IBV_WC_WITH_IMM;
  }
  c.qp_num = qp.record->destination.load(std::memory_order_relaxed);
  c.src_qp = qp.qp_num;
  c.slid = static_cast<std::uint16_t>(qp.owner->fabric().lid);
  return c;
}

void deliver(queue_pair& qp, qp_record& record, claim& to, const completion& c,
             const work_request& wr) noexcept {
  to.consume();
  push_completion(*qp.owner, *qp.target, record.receive_cq.load(std::memory_order_relaxed), c,
                  (wr.flags & IBV_SEND_SOLICITED) != 0);
}

/// The region of an RDMA request; nullptr if key, rights or bounds are invalid.
[[gnu::always_inline]] inline const region_view* find_remote(queue_pair& qp, const qp_record& record,
                                                             std::uint32_t key, std::uint64_t address,
                                                             std::uint64_t bytes,
                                                             std::uint32_t access) noexcept {
  const region_view* region = qp.regions.find(*qp.owner, *qp.target, key);
  if (region == nullptr || !region->remote_key || (region->access & access) == 0 ||
      region->pd != record.pd.load(std::memory_order_relaxed) || !region->covers(address, bytes)) [[unlikely]]
    return nullptr;
  return region;
}

outcome execute_write(queue_pair& qp, qp_record& record, const work_request& wr) noexcept {
  if ((record.access.load(std::memory_order_relaxed) & IBV_ACCESS_REMOTE_WRITE) == 0)
    return refuse(qp, record, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  const region_view* region = nullptr;
  if (wr.bytes != 0) {
    region = find_remote(qp, record, wr.rkey, wr.remote_address, wr.bytes, IBV_ACCESS_REMOTE_WRITE);
    if (region == nullptr) return refuse(qp, record, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  }
  std::array<local_piece, max_sge> pieces;
  if (!gather(qp, wr, 0, pieces)) return outcome::failure(IBV_WC_LOC_PROT_ERR);
  const auto place = [&] {
    if (region == nullptr) return access_status::done;
    const remote_piece to = region->piece(wr.remote_address, wr.bytes);
    const std::span<const local_piece> from{pieces.data(), wr.sge_count};
    if (qp.owner->motor().deferred()) [[unlikely]]
      return place_in_lines(qp, wr, from, to);
    if (to.mapped == nullptr || wr.sge_count != 1) return write_remote(*qp.owner, *qp.target, from, {&to, 1});
    ordered_copy(to.mapped, pieces[0].data, wr.bytes);
    return access_status::done;
  };
  if (wr.opcode == IBV_WR_RDMA_WRITE) [[likely]] {
    const auto result = place();
    return result == access_status::done ? outcome{} : as_outcome(qp, record, result);
  }
  claim notified(qp, record, 0);
  if (!notified.reachable()) return no_answer(qp);
  if (!notified.found()) return no_receive(qp, record);
  if (const auto result = place(); result != access_status::done) return as_outcome(qp, record, result);
  deliver(qp, record, notified, received(qp, wr, notified.receive()), wr);
  return {};
}

outcome execute_read(queue_pair& qp, qp_record& record, const work_request& wr) noexcept {
  if (qp.attributes.max_rd_atomic == 0) return outcome::failure(IBV_WC_LOC_QP_OP_ERR);
  if ((record.access.load(std::memory_order_relaxed) & IBV_ACCESS_REMOTE_READ) == 0 ||
      record.read_depth.load(std::memory_order_relaxed) == 0)
    return refuse(qp, record, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  std::array<local_piece, max_sge> pieces;
  if (!gather(qp, wr, IBV_ACCESS_LOCAL_WRITE, pieces)) return outcome::failure(IBV_WC_LOC_PROT_ERR);
  if (wr.bytes == 0) return {};
  const region_view* region =
      find_remote(qp, record, wr.rkey, wr.remote_address, wr.bytes, IBV_ACCESS_REMOTE_READ);
  if (region == nullptr) return refuse(qp, record, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  const remote_piece from = region->piece(wr.remote_address, wr.bytes);
  const auto result = read_remote(*qp.owner, *qp.target, {pieces.data(), wr.sge_count}, {&from, 1});
  if (result != access_status::done) return as_outcome(qp, record, result);
  return {outcome::done, IBV_WC_SUCCESS, static_cast<std::uint32_t>(wr.bytes), 0};
}

outcome execute_atomic(queue_pair& qp, qp_record& record, const work_request& wr) noexcept {
  if (qp.attributes.max_rd_atomic == 0) return outcome::failure(IBV_WC_LOC_QP_OP_ERR);
  if ((record.access.load(std::memory_order_relaxed) & IBV_ACCESS_REMOTE_ATOMIC) == 0 ||
      record.read_depth.load(std::memory_order_relaxed) == 0 || wr.remote_address % 8 != 0)
    return refuse(qp, record, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  std::array<local_piece, max_sge> pieces;
  if (!gather(qp, wr, IBV_ACCESS_LOCAL_WRITE, pieces)) return outcome::failure(IBV_WC_LOC_PROT_ERR);
  if (wr.bytes < 8) return outcome::failure(IBV_WC_LOC_LEN_ERR);
  const region_view* region =
      find_remote(qp, record, wr.rkey, wr.remote_address, 8, IBV_ACCESS_REMOTE_ATOMIC);
  if (region == nullptr) return refuse(qp, record, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  std::uint64_t old = 0;
  const auto operation =
      wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? atomic_operation::fetch_add : atomic_operation::compare_swap;
  remote_piece word = region->piece(wr.remote_address, 8);
  word.mapped =
      region->word_access == nullptr ? nullptr : region->word_access + (wr.remote_address - region->begin);
  const auto result = atomic_remote(*qp.owner, *qp.target, word, operation, wr.compare_add, wr.swap,
                                    region->shared_memory, old);
  if (result != access_status::done) return as_outcome(qp, record, result);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&old);
  std::size_t done = 0;
  for (std::uint32_t i = 0; i < wr.sge_count && done < 8; ++i) {
    const std::size_t part = std::min<std::size_t>(pieces[i].bytes, 8 - done);
    std::memcpy(pieces[i].data, bytes + done, part);
    done += part;
  }
  return {outcome::done, IBV_WC_SUCCESS, 8, 0};
}

outcome execute_send(queue_pair& qp, qp_record& record, const work_request& wr) noexcept {
  std::array<local_piece, max_sge> pieces;
  if (!gather(qp, wr, 0, pieces)) return outcome::failure(IBV_WC_LOC_PROT_ERR);
  claim claimed(qp, record, wr.bytes);
  if (!claimed.reachable()) return no_answer(qp);
  if (!claimed.found()) return no_receive(qp, record);
  const taken_receive& taken = claimed.receive();
  completion c = received(qp, wr, taken);
  if (wr.bytes > taken.bytes()) {
    c.status = IBV_WC_LOC_LEN_ERR;
    deliver(qp, record, claimed, c, wr);
    return refuse(qp, record, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  }
  std::array<remote_piece, max_sge> to;
  std::uint64_t left = wr.bytes;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < taken.count && left != 0; ++i) {
    const shared_sge& s = taken.sges[i];
    if (s.length == 0) continue;
    const region_view* region = qp.regions.find(*qp.owner, *qp.target, s.lkey);
    if (region == nullptr || region->remote_key || (region->access & IBV_ACCESS_LOCAL_WRITE) == 0 ||
        region->pd != taken.pd || !region->covers(s.address, s.length)) {
      c.status = IBV_WC_LOC_PROT_ERR;
      deliver(qp, record, claimed, c, wr);
      return fail_both(qp, record, IBV_WC_REM_OP_ERR);
    }
    to[count++] = region->piece(s.address, std::min<std::uint64_t>(s.length, left));
    left -= to[count - 1].bytes;
  }
  if (count != 0) {
    const auto result =
        write_remote(*qp.owner, *qp.target, {pieces.data(), wr.sge_count}, {to.data(), count});
    if (result != access_status::done) return as_outcome(qp, record, result);
  }
  deliver(qp, record, claimed, c, wr);
  return {};
}

/// An unreliable message may be lost.
bool is_lost(queue_pair& qp, const work_request& wr) noexcept {
  engine& motor = qp.owner->motor();
  if (reliable(qp) || !dice{motor.settings, matter::loss, qp.ordinal, wr.number}.happens(motor.settings.loss))
    return false;
  motor.counters.lost.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// Both adapters need the context of their QP.
void use_contexts(queue_pair& qp) noexcept {
  const engine_settings& settings = qp.owner->motor().settings;
  use_context(qp.owner->own(), qp.index, settings);
  use_context(*qp.target->base, index_of(qp.record->destination.load(std::memory_order_relaxed)), settings);
}

/// Called after a message of several lines to `address` at the target. In a ring of blocks the distance to
/// the next message's end equals that from the previous one's.
void move_lines(queue_pair& qp, const region_view& region, std::uint64_t address,
                std::uint64_t bytes) noexcept {
  demote(region.mapped + (address - region.begin), bytes);
  const std::uint64_t step = address + bytes - qp.lines_end;
  qp.lines_end = address + bytes;
  if (bytes >= moved_lines::least_ahead && region.covers(address + step, bytes))
    fetch_to_write(region.mapped + (address + step - region.begin), bytes);
}

}  // namespace

bool is_harmless(queue_pair& qp, const work_request& wr) noexcept {
  if (wr.opcode != IBV_WR_RDMA_WRITE || wr.bytes > qp.owner->profile().max_message) return false;
  const qp_record* record = find_target(qp);
  std::array<local_piece, max_sge> pieces;
  return record != nullptr &&
         (record->access.load(std::memory_order_relaxed) & IBV_ACCESS_REMOTE_WRITE) != 0 &&
         gather(qp, wr, 0, pieces) &&
         (wr.bytes == 0 ||
          find_remote(qp, *record, wr.rkey, wr.remote_address, wr.bytes, IBV_ACCESS_REMOTE_WRITE) != nullptr);
}

bool write_at_once(queue_pair& qp, const ibv_send_wr& wr) noexcept {
  if (wr.opcode != IBV_WR_RDMA_WRITE ||
      (wr.send_flags & (IBV_SEND_INLINE | IBV_SEND_SIGNALED)) != IBV_SEND_INLINE || wr.num_sge < 1 ||
      static_cast<std::uint32_t>(wr.num_sge) > qp.cap.max_send_sge)
    return false;
  if (qp.qp_type != IBV_QPT_RC || qp.state_now() != IBV_QPS_RTS || qp.signal_all || !qp.stalled.empty() ||
      (qp.silent_since | qp.not_ready_since) != 0 || qp.owner->motor().counts_contexts())
    return false;
  const ibv_sge* const last = wr.sg_list + wr.num_sge - 1;
  std::uint64_t bytes = last->length;
  for (const ibv_sge* s = wr.sg_list; s != last; ++s) bytes += s->length;
  if (last->length == 0 || bytes > qp.cap.max_inline_data ||
      qp.posted - qp.retired.load(std::memory_order_acquire) >= qp.cap.max_send_wr)
    return false;
  const qp_record* record = find_target(qp);
  if (record == nullptr || (record->access.load(std::memory_order_relaxed) & IBV_ACCESS_REMOTE_WRITE) == 0)
    return false;
  const region_view* region =
      find_remote(qp, *record, wr.wr.rdma.rkey, wr.wr.rdma.remote_addr, bytes, IBV_ACCESS_REMOTE_WRITE);
  if (region == nullptr || region->mapped == nullptr) return false;
  unsigned char* to = region->mapped + (wr.wr.rdma.remote_addr - region->begin);
  for (const ibv_sge* s = wr.sg_list; s != last; to += s->length, ++s)
    if (s->length != 0) std::memcpy(to, reinterpret_cast<const void*>(s->addr), s->length);
  ordered_copy(to, reinterpret_cast<const unsigned char*>(last->addr), last->length);
  if (bytes >= moved_lines::least_bytes && bytes <= moved_lines::most_bytes)
    move_lines(qp, *region, wr.wr.rdma.remote_addr, bytes);
  return true;
}

const region_view* open_region(queue_pair& qp, std::uint32_t key, std::uint64_t address, std::uint64_t bytes,
                               std::uint32_t access) noexcept {
  const qp_record* record = find_target(qp);
  if (record == nullptr || (record->access.load(std::memory_order_relaxed) & access) != access)
    return nullptr;
  const region_view* region = find_remote(qp, *record, key, address, bytes, access);
  return region != nullptr && (region->access & access) == access ? region : nullptr;
}

outcome execute_connected(queue_pair& qp, const work_request& wr) noexcept {
  qp_record* record = find_target(qp);
  if (record == nullptr) [[unlikely]] {
    std::array<local_piece, max_sge> pieces;
    if (!reliable(qp) && !gather(qp, wr, 0, pieces)) return outcome::failure(IBV_WC_LOC_PROT_ERR);
    return no_answer(qp);
  }
  if (wr.bytes > qp.owner->profile().max_message) return outcome::failure(IBV_WC_LOC_LEN_ERR);
  if (qp.owner->motor().counts_contexts()) [[unlikely]] {
    use_contexts(qp);
    if (qp.owner->motor().deferred() && is_lost(qp, wr)) return {};
    if (!qp.late.empty() && wr.opcode != IBV_WR_RDMA_WRITE) place_late(qp, true);
  }
  switch (wr.opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return execute_write(qp, *record, wr);
    case IBV_WR_RDMA_READ:
      return execute_read(qp, *record, wr);
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      return execute_send(qp, *record, wr);
    default:
      return execute_atomic(qp, *record, wr);
  }
}

}  // namespace chorale::soft
