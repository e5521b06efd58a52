// SPDX-License-Identifier: Apache-2.0
#include "responder.hpp"

#include <algorithm>
#include <cstring>

#include "completions.hpp"
#include "events.hpp"
#include "fabric.hpp"
#include "queue_pair_faults.hpp"
#include "requester.hpp"
#include "verbs.hpp"

namespace chorale::simulation::device {
namespace {

constexpr std::uint32_t psn_mask = 0xffffff;

bool takes_receive(ibv_wr_opcode opcode) noexcept {
  return is_send(opcode) || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/// The target queue pair of a message; nullptr if there is none, or if it does not respond.
queue_pair* find_target(const message& m) noexcept {
  queue_pair* const qp = m.on.to->queue_pairs.find(m.on.destination);
  if (qp == nullptr || !qp->connected() || !qp->receiving() || qp->path.target != m.on.from ||
      qp->attributes.dest_qp_num != m.on.source)
    return nullptr;
  const queue_pair* const sender = m.on.from->queue_pairs.find(m.on.source);
  return sender == nullptr || reaches(*sender, sender->path, *qp) ? qp : nullptr;
}

answer answer_to(const message& m) {
  answer a;
  a.on = {m.on.to, m.on.from, m.on.destination, m.on.source};
  a.name = m.name;
  a.trace = m.trace;
  return a;
}

/// An answer reaches the requester's adapter.
void answer_arrives(std::unique_ptr<answer> a, const arrival& when) {
  fabric& all = a->on.to->owner();
  a->arrives = when;
  const placement seen =
      all.costs().receive(a->on.to->host(), when, {.bytes = a->data.size(), .queue_pair = a->on.destination});
  all.time().at(std::max(seen.completed, all.time().now()), [a = std::move(a)] { take_answer(*a); });
}

/// Sends an answer that may leave as `leaves` says.
void send_answer(queue_pair& qp, answer a, const departure& leaves) {
  fabric& all = qp.nic->owner();
  note_answer(all.time(), a.trace, a.data.size(), leaves.first);
  const outgoing weight{.bytes = a.data.size(), .queue_pair = qp.qp_num, .from_memory = !a.data.empty()};
  const arrival soonest = all.costs().carry(a.on.from->host(), a.on.to->host(), weight, leaves);
  const duration late = all.chance().message();
  const arrival when{.first = soonest.first + late, .last = soonest.last + late};
  qp.answers.in_order = std::max({when.first, qp.answers.in_order, all.time().now()});
  all.time().at(qp.answers.in_order, [a = std::make_unique<answer>(std::move(a)), when]() mutable {
    answer_arrives(std::move(a), when);
  });
}

void send_answer(queue_pair& qp, answer a, instant leaves) {
  send_answer(qp, std::move(a), departure{leaves, leaves});
}

/// The target refuses the request: both ends fail.
void refuse(queue_pair& qp, const message& m, ibv_wc_status status, ibv_event_type event) {
  if (!qp.reliable()) return;
  answer a = answer_to(m);
  a.kind = answer::kind_type::failed;
  a.status = status;
  send_answer(qp, std::move(a), m.placed.answered);
  fail_responder(qp, event);
}

/// The target's own receive is invalid; the target reports that in any case.
void fail_both(queue_pair& qp, const message& m) {
  if (qp.reliable()) return refuse(qp, m, IBV_WC_REM_OP_ERR, IBV_EVENT_QP_FATAL);
  fail_responder(qp, IBV_EVENT_QP_FATAL);
}

void no_receive(queue_pair& qp, const message& m) {
  if (!qp.reliable()) return;
  // The retransmission has the same number.
  qp.answers.psn = m.psn;
  qp.answers.refused = true;
  answer a = answer_to(m);
  a.kind = answer::kind_type::not_ready;
  a.rnr_timer = qp.attributes.min_rnr_timer;
  send_answer(qp, std::move(a), m.placed.answered);
}

void acknowledge(queue_pair& qp, const message& m) {
  if (qp.reliable()) send_answer(qp, answer_to(m), m.placed.answered);
}

void report(queue_pair& qp, const message& m, const receive& taken, ibv_wc_status status) {
  completion c{};
  c.report.wr_id = taken.wr_id;
  c.report.status = status;
  c.report.opcode = m.opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
  c.report.byte_len = static_cast<std::uint32_t>(m.bytes);
  if (m.opcode != IBV_WR_SEND) {
    c.report.imm_data = m.imm;
    c.report.wc_flags = IBV_WC_WITH_IMM;
  }
  c.report.qp_num = qp.qp_num;
  c.report.src_qp = m.on.source;
  c.report.slid = m.on.from->lid();
  if (qp.srq == nullptr) ++qp.receives.unpolled;
  push(static_cast<completion_queue&>(*qp.recv_cq), c, m.solicited);
}

/// The memory of a request; nullptr if key, rights or bounds are wrong.
std::byte* find_remote(const queue_pair& qp, const message& m, std::uint64_t bytes, int access) noexcept {
  return qp.nic->regions.remote(m.rkey, {m.remote_address, bytes, qp.pd, access});
}

bool allows(const queue_pair& qp, unsigned access) noexcept {
  return (qp.attributes.qp_access_flags & access) != 0;
}

void write(queue_pair& qp, message& m) {
  if (!allows(qp, IBV_ACCESS_REMOTE_WRITE))
    return refuse(qp, m, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  std::byte* const to = find_remote(qp, m, m.bytes, IBV_ACCESS_REMOTE_WRITE);
  if (m.bytes != 0 && to == nullptr) return refuse(qp, m, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  const bool notifies = takes_receive(m.opcode);
  if (notifies && qp.receives_from().posted.empty()) return no_receive(qp, m);
  note_delivery(qp.nic->owner().time(), m.trace, m.bytes, m.arrives);
  if (!notifies && qp.reliable() && placement_of(context::of(qp.context)) != verbs::placement_order::ordered)
    write_in_parts(qp, m);
  else
    qp.nic->owner().place(to, std::span{m.data}.first(m.bytes),
                          qp.nic->owner().copies() != nullptr ? rank_behind(m.on.from, m.on.source) : -1);
  qp.nic->owner().touch(qp.rank());
  if (notifies) report(qp, m, take_receive(qp), IBV_WC_SUCCESS);
  acknowledge(qp, m);
}

void send(queue_pair& qp, message& m) {
  receive_queue& from = qp.receives_from();
  if (from.posted.empty()) return no_receive(qp, m);
  if (!qp.reliable() && from.posted.front().bytes() < m.bytes) return;
  note_delivery(qp.nic->owner().time(), m.trace, m.bytes, m.arrives);
  const receive taken = take_receive(qp);
  if (m.bytes > taken.bytes()) {
    report(qp, m, taken, IBV_WC_LOC_LEN_ERR);
    return refuse(qp, m, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  }
  const bool placed = fill(qp, taken, m.data);
  report(qp, m, taken, placed ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR);
  if (!placed) return fail_both(qp, m);
  acknowledge(qp, m);
}

/// The data of a read leave, as they are at this instant.
void send_read(hca& nic, std::uint32_t number, const message& m, const departure& leaves) {
  queue_pair* const qp = nic.queue_pairs.find(number);
  if (qp == nullptr || qp->state == IBV_QPS_RESET || nic.failed) return lose(m);
  answer a = answer_to(m);
  if (m.bytes != 0) {
    const std::byte* const from = find_remote(*qp, m, m.bytes, IBV_ACCESS_REMOTE_READ);
    if (from == nullptr) return refuse(*qp, m, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
    a.data.assign(from, from + m.bytes);
  }
  send_answer(*qp, std::move(a), leaves);
}

void read(queue_pair& qp, std::unique_ptr<message> m) {
  if (!allows(qp, IBV_ACCESS_REMOTE_READ) || qp.attributes.max_dest_rd_atomic == 0)
    return refuse(qp, *m, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  if (m->bytes != 0 && find_remote(qp, *m, m->bytes, IBV_ACCESS_REMOTE_READ) == nullptr)
    return refuse(qp, *m, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  hca& nic = *qp.nic;
  scheduler& time = nic.owner().time();
  // The answer carries the requested data.
  note_delivery(time, m->trace, 0, m->arrives);
  const departure leaves =
      nic.owner().costs().answer_read(nic.host(), m->placed, {.bytes = m->bytes, .queue_pair = qp.qp_num});
  time.at(std::max(leaves.first, time.now()),
          [&nic, number = qp.qp_num, m = std::move(m), leaves] { send_read(nic, number, *m, leaves); });
}

void atomic(queue_pair& qp, message& m) {
  if (!allows(qp, IBV_ACCESS_REMOTE_ATOMIC) || qp.attributes.max_dest_rd_atomic == 0 ||
      m.remote_address % 8 != 0)
    return refuse(qp, m, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  std::byte* const word = find_remote(qp, m, sizeof(std::uint64_t), IBV_ACCESS_REMOTE_ATOMIC);
  if (word == nullptr) return refuse(qp, m, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  note_delivery(qp.nic->owner().time(), m.trace, 0, m.arrives);
  std::uint64_t old = 0;
  std::memcpy(&old, word, sizeof old);
  std::uint64_t fresh = old;
  if (m.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
    fresh = old + m.compare_add;
  else if (old == m.compare_add)
    fresh = m.swap;
  std::memcpy(word, &fresh, sizeof fresh);
  qp.nic->owner().touch(qp.rank());
  answer a = answer_to(m);
  a.data.resize(sizeof old);
  std::memcpy(a.data.data(), &old, sizeof old);
  send_answer(qp, std::move(a), qp.nic->owner().costs().answer_atomic(m.placed));
}

/// A message has been received completely: performs it, and answers.
void execute(std::unique_ptr<message> m) {
  queue_pair* const qp = find_target(*m);
  if (qp == nullptr) return lose(*m);
  if (qp->reliable()) {
    if (m->psn != qp->answers.psn) {
      // Follows a refused request that will be retransmitted, or the ends' packet numbers differ.
      if (!qp->answers.refused) lose(*m);
      return;
    }
    qp->answers.refused = false;
    qp->answers.psn = (m->psn + packets_of(m->bytes, qp->attributes.path_mtu)) & psn_mask;
  }
  if (!qp->answers.late.empty() && m->opcode != IBV_WR_RDMA_WRITE) place_late(*qp);
  if (is_write(m->opcode)) return write(*qp, *m);
  if (is_send(m->opcode)) return send(*qp, *m);
  if (m->opcode == IBV_WR_RDMA_READ) return read(*qp, std::move(m));
  atomic(*qp, *m);
}

}  // namespace

void arrive(std::unique_ptr<message> m) {
  hca& nic = *m->on.to;
  fabric& all = nic.owner();
  queue_pair* const qp = find_target(*m);
  if (qp == nullptr) return lose(*m);
  const bool takes = takes_receive(m->opcode);
  m->placed = all.costs().receive(nic.host(), m->arrives,
                                  {.bytes = m->last_burst,
                                   .queue_pair = m->on.destination,
                                   .takes_receive = takes,
                                   .shared = qp->srq != nullptr});
  qp->answers.placed =
      std::max({takes ? m->placed.completed : m->placed.seen, qp->answers.placed, all.time().now()});
  all.time().at(qp->answers.placed, [m = std::move(m)]() mutable { execute(std::move(m)); });
}

std::uint32_t packets_of(std::uint64_t bytes, ibv_mtu mtu) noexcept {
  const std::uint64_t each = std::uint64_t{128} << mtu;
  return bytes == 0 ? 1 : static_cast<std::uint32_t>((bytes + each - 1) / each);
}

receive take_receive(queue_pair& qp) {
  receive_queue& from = qp.receives_from();
  receive taken = from.posted.pop_front();
  if (qp.srq != nullptr) {
    auto& srq = static_cast<shared_receive_queue&>(*qp.srq);
    if (srq.limit != 0 && from.posted.size() < srq.limit) {
      srq.limit = 0;
      raise(srq, IBV_EVENT_SRQ_LIMIT_REACHED);
    }
  }
  return taken;
}

bool fill(const queue_pair& qp, const receive& into, std::span<const std::byte> data) {
  const ibv_pd* const domain = qp.srq != nullptr ? qp.srq->pd : qp.pd;
  const auto reaches = [&](const ibv_sge& p) {
    return qp.nic->regions.local(p.lkey, {p.addr, p.length, domain, IBV_ACCESS_LOCAL_WRITE});
  };
  // Nothing is written if a later piece is invalid.
  std::size_t left = data.size();
  for (const ibv_sge& p : into.pieces) {
    if (left == 0) break;
    if (p.length == 0) continue;
    if (reaches(p) == nullptr) return false;
    left -= std::min<std::size_t>(p.length, left);
  }
  for (const ibv_sge& p : into.pieces) {
    const std::size_t part = std::min<std::size_t>(p.length, data.size());
    qp.nic->owner().place(reinterpret_cast<void*>(p.addr), data.first(part));
    data = data.subspan(part);
  }
  return true;
}

}  // namespace chorale::simulation::device
