// SPDX-License-Identifier: Apache-2.0

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <memory>

#include "completions.hpp"
#include "fabric.hpp"
#include "packet.hpp"
#include "queue_pair_faults.hpp"
#include "requester.hpp"
#include "responder.hpp"
#include "verbs.hpp"

namespace chorale::simulation::device {
namespace {

/// BTH, DETH and ICRC, which the length in a GRH counts.
constexpr std::uint64_t transport_bytes = 24;
constexpr std::uint32_t own_qkey = 0x80000000;

/// The 40 bytes before the payload: the GRH if there was one, else noise, as on hardware.
void put_grh(const message& m, std::vector<std::byte>& out) {
  if (!m.path.global) {
    out.assign(grh_bytes, std::byte{0xdb});
    return;
  }
  ibv_grh grh{};
  grh.version_tclass_flow = htonl(6U << 28 | m.path.flow);
  grh.paylen = htons(static_cast<std::uint16_t>(m.bytes + transport_bytes));
  grh.next_hdr = 0x1b;
  grh.hop_limit = m.path.hop_limit;
  grh.sgid = m.path.source;
  grh.dgid = m.path.gid;
  out.resize(sizeof grh);
  std::memcpy(out.data(), &grh, sizeof grh);
}

/// Gives a datagram to a queue pair, if the queue pair accepts it.
void deliver(hca& nic, std::uint32_t number, const message& m, const arrival& when) {
  queue_pair* const qp = nic.queue_pairs.find(number);
  if (qp == nullptr || qp->connected() || !qp->receiving()) return;
  const queue_pair* const sender = m.on.from->queue_pairs.find(m.on.source);
  if (sender != nullptr && !reaches(*sender, m.path, *qp)) return;
  if (nic.owner().chance().is_deaf(qp->rank(), nic.owner().time().now())) return;
  if (qp->attributes.qkey != m.qkey) {
    ++nic.qkey_violations;
    return;
  }
  const std::uint64_t bytes = grh_bytes + m.bytes;
  receive_queue& from = qp->receives_from();
  if (from.posted.empty() || from.posted.front().bytes() < bytes) return;
  traced trace = m.trace;
  trace.peer = qp->rank();
  note_delivery(nic.owner().time(), trace, m.bytes, when);
  const receive taken = take_receive(*qp);
  std::vector<std::byte> whole;
  put_grh(m, whole);
  whole.insert(whole.end(), m.data.begin(), m.data.end());
  const bool placed = fill(*qp, taken, whole);
  completion c{};
  c.report.wr_id = taken.wr_id;
  c.report.status = placed ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
  c.report.opcode = IBV_WC_RECV;
  c.report.byte_len = static_cast<std::uint32_t>(bytes);
  c.report.qp_num = number;
  c.report.src_qp = m.on.source;
  c.report.sl = m.path.service_level;
  c.report.slid = m.on.from->lid();
  c.report.wc_flags = m.path.global ? unsigned{IBV_WC_GRH} : 0U;
  if (m.opcode == IBV_WR_SEND_WITH_IMM) {
    c.report.imm_data = m.imm;
    c.report.wc_flags |= IBV_WC_WITH_IMM;
  }
  if (qp->srq == nullptr) ++qp->receives.unpolled;
  push(static_cast<completion_queue&>(*qp->recv_cq), c, m.solicited);
  if (!placed) fail_responder(*qp, IBV_EVENT_QP_FATAL);
}

/// A datagram reaches an adapter, which gives it to its one queue pair or to the group's members.
void arrive_at(hca& nic, const std::shared_ptr<const message>& m, const arrival& when) {
  fabric& all = nic.owner();
  const auto to =
      m->path.multicast ? all.groups().members(m->path, nic) : std::vector<std::uint32_t>{m->on.destination};
  for (const std::uint32_t number : to) {
    const queue_pair* const qp = nic.queue_pairs.find(number);
    const placement placed = all.costs().receive(nic.host(), when,
                                                 {.bytes = m->bytes,
                                                  .queue_pair = number,
                                                  .kind = service::datagram,
                                                  .takes_receive = true,
                                                  .shared = qp != nullptr && qp->srq != nullptr});
    all.time().at(std::max(placed.completed, all.time().now()),
                  [&nic, number, m, when] { deliver(nic, number, *m, when); });
  }
}

/// A datagram reaches an adapter at that time, unless a fault delays, repeats or drops it.
void come(fabric& all, hca& nic, const std::shared_ptr<const message>& m, const arrival& at) {
  const disturbance::copies copies = all.chance().datagram();
  for (const duration late : copies.all()) {
    const arrival when{.first = at.first + late, .last = at.last + late};
    all.time().at(std::max(when.first, all.time().now()), [&nic, m, when] { arrive_at(nic, m, when); });
  }
}

void send_to_group(const hca& from, const std::shared_ptr<const message>& m, const outgoing& weight,
                   const departure& leaves) {
  fabric& all = from.owner();
  std::vector<int> hosts;
  all.groups().for_each_hca(m->path, [&](const hca& nic) {
    if (all.connects(from, nic)) hosts.push_back(nic.host());
  });
  const auto arrivals = all.costs().carry_to_group(from.host(), hosts, weight, leaves, m->path.lid);
  for (std::size_t i = 0; i < hosts.size(); ++i) come(all, all.at(hosts[i]), m, arrivals[i]);
}

group_name name_of(const union ibv_gid* gid, std::uint16_t lid) noexcept {
  group_name name;
  if (gid != nullptr) std::memcpy(name.gid.data(), gid->raw, name.gid.size());
  name.lid = lid;
  return name;
}

}  // namespace

void send_datagram(queue_pair& qp, const send_request& r, const outgoing& weight, const departure& leaves,
                   const traced& trace) {
  // A datagram longer than the MTU is dropped without an error (IBTA C10-93.1.1).
  const std::uint64_t most = std::uint64_t{128} << context::of(qp.context).profile->mtu;
  const bool reaches = r.to.multicast ? r.remote_qpn == multicast_queue_pair : r.to.target != nullptr;
  if (r.bytes > most || !reaches) return;
  auto m = std::make_shared<message>();
  m->on = {qp.nic, r.to.target, qp.qp_num, r.remote_qpn};
  m->opcode = r.opcode;
  m->solicited = (r.flags & IBV_SEND_SOLICITED) != 0;
  m->imm = r.imm;
  m->bytes = r.bytes;
  m->data = gather(r);
  m->path = r.to;
  m->trace = trace;
  m->qkey = (r.remote_qkey & own_qkey) != 0 ? qp.attributes.qkey : r.remote_qkey;
  if (r.to.multicast) return send_to_group(*qp.nic, m, weight, leaves);
  fabric& all = qp.nic->owner();
  const arrival when = all.costs().carry(qp.nic->host(), r.to.target->host(), weight, leaves);
  come(all, *m->on.to, m, when);
}

int attach_mcast(ibv_qp* base, const union ibv_gid* gid, std::uint16_t lid) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  if (qp.connected() || !verbs::is_group(gid, lid)) return EINVAL;
  context& c = context::of(qp.context);
  if (c.profile->multicast_groups == 0) return EOPNOTSUPP;
  if (c.in_use.memberships >= c.profile->multicast_groups) return ENOMEM;
  try {
    if (!qp.nic->owner().groups().attach(name_of(gid, lid), *qp.nic, qp.qp_num)) return 0;
    ++qp.groups;
    ++c.in_use.memberships;
    return 0;
  } catch (...) {
    return ENOMEM;
  }
}

int detach_mcast(ibv_qp* base, const union ibv_gid* gid, std::uint16_t lid) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  if (qp.connected() || !verbs::is_group(gid, lid)) return EINVAL;
  if (!qp.nic->owner().groups().detach(name_of(gid, lid), *qp.nic, qp.qp_num)) return EINVAL;
  --qp.groups;
  --context::of(qp.context).in_use.memberships;
  return 0;
}

}  // namespace chorale::simulation::device
