// SPDX-License-Identifier: Apache-2.0
#include "requester.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "../../verbs/request_rules.hpp"
#include "completions.hpp"
#include "events.hpp"
#include "fabric.hpp"
#include "queue_pair_faults.hpp"

namespace chorale::simulation::device {
namespace {

/// Vendor syndromes as on common adapters.
constexpr std::uint32_t no_answer_syndrome = 0x81;
constexpr std::uint32_t no_receive_syndrome = 0x82;

/// How long a requester waits for an answer before it retransmits; zero: for ever.
duration answer_time(const queue_pair& qp) noexcept {
  if (qp.attributes.timeout == 0) return {};
  return std::chrono::nanoseconds{std::int64_t{4096} << (qp.attributes.timeout & 31)};
}

bool may_go(const queue_pair& qp, const send_request& r, std::uint64_t number) noexcept {
  const requester& q = qp.sends;
  if (qp.state != IBV_QPS_RTS || q.busy != 0 || q.waits || (q.failed != 0 && number >= q.failed))
    return false;
  if ((r.flags & IBV_SEND_FENCE) != 0 && q.reads != 0) return false;
  return !r.reads_back() || q.reads < std::max<std::uint32_t>(qp.attributes.max_rd_atomic, 1);
}

/// The error of a request before it leaves, if any.
ibv_wc_status local_fault(const queue_pair& qp, const send_request& r) noexcept {
  if (r.reads_back() && qp.attributes.max_rd_atomic == 0) return IBV_WC_LOC_QP_OP_ERR;
  if (!r.is_inline() && !check_pieces(qp, r, r.reads_back() ? IBV_ACCESS_LOCAL_WRITE : 0))
    return IBV_WC_LOC_PROT_ERR;
  const bool atomic = r.reads_back() && r.opcode != IBV_WR_RDMA_READ;
  if (r.bytes > context::of(qp.context).profile->max_message || (atomic && r.bytes < 8))
    return IBV_WC_LOC_LEN_ERR;
  return IBV_WC_SUCCESS;
}

std::unique_ptr<message> make_message(const queue_pair& qp, const send_request& r, const request_name& name,
                                      const traced& trace) {
  auto m = std::make_unique<message>();
  m->trace = trace;
  m->on = {qp.nic, qp.path.target, qp.qp_num, qp.attributes.dest_qp_num};
  m->name = name;
  m->opcode = r.opcode;
  m->solicited = (r.flags & IBV_SEND_SOLICITED) != 0;
  m->imm = r.imm;
  m->psn = r.psn;
  m->bytes = r.bytes;
  m->remote_address = r.remote_address;
  m->rkey = r.rkey;
  m->compare_add = r.compare_add;
  m->swap = r.swap;
  if (!r.reads_back()) m->data = gather(r);
  return m;
}

void fail(queue_pair& qp, send_request& r, std::uint64_t number, ibv_wc_status status) {
  qp.sends.failed = number;
  end(qp, r, status);
}

/// The sending adapter's work on a request, up to the first burst.
outgoing weight_of(const queue_pair& qp, const send_request& r) noexcept {
  const adapter_costs& costs = qp.nic->owner().costs().costs();
  const std::uint64_t bytes = r.reads_back() ? 0 : r.bytes;
  // Inline data that do not fit into the request are fetched from memory, though the program may reuse its
  // own at once.
  const bool in_request = r.is_inline() && bytes <= costs.posting.inline_bytes;
  return {.bytes = qp.connected() ? std::min<std::uint64_t>(bytes, costs.burst) : bytes,
          .queue_pair = qp.qp_num,
          .kind = qp.connected() ? service::connected : service::datagram,
          .from_memory = bytes != 0 && !in_request};
}

/// The adapter reads a request's payload, and its message goes to the network.
void depart(hca& nic, std::uint32_t number, const request_name& name, const departure& leaves) {
  queue_pair* const qp = nic.queue_pairs.find(number);
  send_request* const r = qp == nullptr ? nullptr : find_request(*qp, name, true);
  if (r == nullptr || r->ended || (qp->sends.failed != 0 && name.number > qp->sends.failed)) return;
  if (const ibv_wc_status fault = local_fault(*qp, *r); fault != IBV_WC_SUCCESS)
    return fail(*qp, *r, name.number, fault);
  // The trace of a retransmission includes all attempts before it.
  traced trace = r->trace;
  note_stage(nic.owner().time(), trace, activity::leave, r->reads_back() ? 0 : r->bytes, leaves.first);
  if (qp->connected()) return send_in_bursts(make_message(*qp, *r, name, trace), weight_of(*qp, *r), leaves);
  send_datagram(*qp, *r, weight_of(*qp, *r), leaves, trace);
  all_left(*qp, name, leaves.last);
}

/// Marks the requests from `number` on as not sent, so that they are retransmitted.
void go_back(queue_pair& qp, std::uint64_t number) noexcept {
  requester& q = qp.sends;
  ++q.attempt;
  q.busy = 0;
  q.sent = static_cast<std::size_t>(number - q.first());
  q.reads = 0;
  for (std::size_t i = 0; i < q.sent; ++i)
    if (q.queue[i].reads_back() && !q.queue[i].ended) ++q.reads;
}

/// The first request of the queue got no answer in time.
void retry(hca& nic, std::uint32_t number, const request_name& name) {
  queue_pair* const qp = nic.queue_pairs.find(number);
  send_request* const r = qp == nullptr ? nullptr : find_request(*qp, name, true);
  if (r == nullptr || r->ended || qp->sends.waits) return;
  if (qp->sends.silences >= qp->attributes.retry_cnt) return fail(*qp, *r, name.number, IBV_WC_RETRY_EXC_ERR);
  ++qp->sends.silences;
  go_back(*qp, name.number);
  send_on(*qp);
}

/// The responder had no receive for the request.
void wait_for_receive(queue_pair& qp, send_request& r, const answer& what) {
  requester& q = qp.sends;
  if (qp.attributes.rnr_retry != 7 && q.refusals >= qp.attributes.rnr_retry)
    return fail(qp, r, what.name.number, IBV_WC_RNR_RETRY_EXC_ERR);
  if (qp.attributes.rnr_retry != 7) ++q.refusals;
  go_back(qp, what.name.number);
  q.waits = true;
  hca& nic = *qp.nic;
  nic.owner().time().after(verbs::rnr_time(what.rnr_timer),
                           [&nic, number = qp.qp_num, life = q.life, attempt = q.attempt] {
                             queue_pair* const waiting = nic.queue_pairs.find(number);
                             if (waiting == nullptr || waiting->sends.life != life ||
                                 waiting->sends.attempt != attempt || !waiting->sends.waits)
                               return;
                             waiting->sends.waits = false;
                             send_on(*waiting);
                           });
}

/// Writes returned data to the request's memory. False if a local key no longer permits it.
bool scatter(const queue_pair& qp, const send_request& r, std::span<const std::byte> data) {
  if (!check_pieces(qp, r, IBV_ACCESS_LOCAL_WRITE)) return false;
  for (const ibv_sge& p : r.pieces) {
    const std::size_t part = std::min<std::size_t>(p.length, data.size());
    qp.nic->owner().place(reinterpret_cast<void*>(p.addr), data.first(part), qp.rank());
    data = data.subspan(part);
  }
  return true;
}

void retire(queue_pair& qp) {
  requester& q = qp.sends;
  while (!q.queue.empty() && q.queue.front().ended) {
    const std::uint64_t number = q.first();
    const send_request r = q.queue.pop_front();
    if (q.sent != 0) --q.sent;
    q.silences = q.refusals = 0;
    complete(qp, r, number, r.status);
    if (r.status != IBV_WC_SUCCESS) return fail_requester(qp);
  }
  if (q.drains && qp.state == IBV_QPS_SQD && q.sent == 0) {
    q.drains = false;
    raise(qp, IBV_EVENT_SQ_DRAINED);
  }
}

}  // namespace

void send_on(queue_pair& qp) {
  requester& q = qp.sends;
  fabric& all = qp.nic->owner();
  while (q.sent < q.queue.size() && may_go(qp, q.queue[q.sent], q.first() + q.sent)) {
    const send_request& r = q.queue[q.sent];
    const request_name name{q.first() + q.sent, q.life, q.attempt};
    ++q.sent;
    if (r.ended) continue;
    if (r.reads_back()) ++q.reads;
    const outgoing weight = weight_of(qp, r);
    if (weight.bytes != 0 && weight.bytes < r.bytes) q.busy = name.number;
    departure when = all.costs().send(qp.nic->host(), weight, all.time().now());
    if (qp.connected() && weight.from_memory) {
      const duration late = all.chance().reading();
      when = {when.first + late, when.last + late};
    }
    // Not before an earlier request, even if that took longer to fetch.
    when.first = std::max({when.first, q.departs, all.time().now()});
    q.departs = when.last = std::max(when.first, when.last);
    all.time().at(when.first,
                  [&nic = *qp.nic, number = qp.qp_num, name, when] { depart(nic, number, name, when); });
  }
}

void all_left(queue_pair& qp, const request_name& name, instant last) {
  send_request* const r = find_request(qp, name, true);
  if (r == nullptr) return;
  if (qp.sends.busy == name.number) {
    qp.sends.busy = 0;
    send_on(qp);
  }
  if (qp.reliable()) return;
  // Without an acknowledgement a request ends when it has left.
  if (!qp.is_signalled(*r)) return end(qp, *r, IBV_WC_SUCCESS);
  scheduler& time = qp.nic->owner().time();
  time.at(std::max(last, time.now()), [&nic = *qp.nic, number = qp.qp_num, name] {
    queue_pair* const sender = nic.queue_pairs.find(number);
    send_request* const sent = sender == nullptr ? nullptr : find_request(*sender, name, true);
    if (sent != nullptr) end(*sender, *sent, IBV_WC_SUCCESS);
  });
}

void lose(const message& what) {
  hca& nic = *what.on.from;
  const queue_pair* const qp = nic.queue_pairs.find(what.on.source);
  if (qp == nullptr) return;
  const duration patience = answer_time(*qp);
  if (patience == duration::zero()) return;
  scheduler& time = nic.owner().time();
  time.at(std::max(what.sent + patience, time.now()),
          [&nic, number = what.on.source, name = what.name] { retry(nic, number, name); });
}

void take_answer(answer& what) {
  queue_pair* const qp = what.on.to->queue_pairs.find(what.on.destination);
  if (qp == nullptr) return;
  const bool done = what.kind == answer::kind_type::done;
  send_request* const r = find_request(*qp, what.name, !done);
  if (r == nullptr || r->ended) return;
  if (what.kind == answer::kind_type::not_ready) return wait_for_receive(*qp, *r, what);
  if (!done) return fail(*qp, *r, what.name.number, what.status);
  note_answered(qp->nic->owner().time(), what.trace, what.data.size(), what.arrives);
  if (r->reads_back()) {
    if (!scatter(*qp, *r, what.data)) return fail(*qp, *r, what.name.number, IBV_WC_LOC_PROT_ERR);
    r->byte_len = static_cast<std::uint32_t>(what.data.size());
    qp->nic->owner().touch(qp->rank());
  }
  end(*qp, *r, IBV_WC_SUCCESS);
  send_on(*qp);
}

void complete(queue_pair& qp, const send_request& r, std::uint64_t number, ibv_wc_status status) {
  if (status == IBV_WC_SUCCESS && !qp.is_signalled(r)) return;
  completion c{};
  c.report.wr_id = r.wr_id;
  c.report.status = status;
  c.report.opcode = verbs::completed_opcode(r.opcode);
  c.report.byte_len = status == IBV_WC_SUCCESS ? r.byte_len : 0;
  c.report.qp_num = qp.qp_num;
  if (status == IBV_WC_RETRY_EXC_ERR) c.report.vendor_err = no_answer_syndrome;
  if (status == IBV_WC_RNR_RETRY_EXC_ERR) c.report.vendor_err = no_receive_syndrome;
  c.sends = number;
  push(static_cast<completion_queue&>(*qp.send_cq), c);
}

void end(queue_pair& qp, send_request& r, ibv_wc_status status) {
  r.ended = true;
  r.status = status;
  if (r.reads_back() && qp.sends.reads != 0) --qp.sends.reads;
  retire(qp);
}

send_request* find_request(queue_pair& qp, const request_name& name, bool first_try) noexcept {
  requester& q = qp.sends;
  if (q.life != name.life || (first_try && q.attempt != name.attempt) || name.number < q.first() ||
      name.number > q.posted)
    return nullptr;
  return &q.queue[static_cast<std::size_t>(name.number - q.first())];
}

bool check_pieces(const queue_pair& qp, const send_request& r, int access) noexcept {
  return std::all_of(r.pieces.begin(), r.pieces.end(), [&](const ibv_sge& p) {
    return p.length == 0 || qp.nic->regions.local(p.lkey, {p.addr, p.length, qp.pd, access}) != nullptr;
  });
}

std::vector<std::byte> gather(const send_request& r) {
  if (r.is_inline()) return r.inline_data;
  std::vector<std::byte> data;
  data.reserve(r.bytes);
  for (const ibv_sge& p : r.pieces) {
    const auto* const first = reinterpret_cast<const std::byte*>(p.addr);
    data.insert(data.end(), first, first + p.length);
  }
  return data;
}

}  // namespace chorale::simulation::device
