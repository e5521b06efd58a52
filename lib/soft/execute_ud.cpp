// SPDX-License-Identifier: Apache-2.0
// Datagrams, to one QP or to every member of a multicast group. Undeliverable ones are lost.
#include <algorithm>
#include <arpa/inet.h>

#include "../verbs/sender_of.hpp"
#include "context_cache.hpp"
#include "queue_pair.hpp"

namespace chorale::soft {
namespace {

constexpr std::uint32_t multicast_qpn = 0xffffff;
constexpr std::int64_t shortage_ns = 1'000'000'000;

/// Puts the source from the profile's GID table into a GRH: as an IPv4 header if the GID is an IPv4 address.
[[gnu::noinline]] void put_source(process& self, const datagram_header& d, std::uint64_t payload,
                                  unsigned char (&bytes)[grh_bytes]) noexcept {
  const ibv_gid& source = self.own().port.gids[d.to.source_index % verbs::most_profile_gids].gid;
  std::memcpy(bytes + offsetof(ibv_grh, sgid), source.raw, sizeof source.raw);
  if (!verbs::is_ipv4_mapped(source)) return;
  verbs::ipv4_grh four{};
  std::memset(four.undefined, 0xdb, sizeof four.undefined);
  four.version_and_length = verbs::ipv4_version_and_length;
  four.service = static_cast<std::uint8_t>(d.to.flow >> 20);
  four.length = htons(static_cast<std::uint16_t>(payload + 52));  // including IP, UDP, BTH, DETH and ICRC
  four.hops = d.to.hop_limit;
  four.protocol = 17;  // UDP
  std::memcpy(four.source, source.raw + 12, sizeof four.source);
  std::memcpy(four.destination, d.to.gid.raw + 12, sizeof four.destination);
  std::memcpy(bytes, &four, sizeof bytes);
}

/// The 40 bytes before the payload: a GRH if there was one, otherwise noise, as on hardware.
void fill_grh(process& self, const datagram_header& d, std::uint64_t payload,
              unsigned char (&bytes)[grh_bytes]) noexcept {
  if (!d.to.global) {
    std::memset(bytes, 0xdb, sizeof bytes);
    return;
  }
  ibv_grh grh{};
  grh.version_tclass_flow = htonl(6U << 28 | d.to.flow);
  grh.paylen = htons(static_cast<std::uint16_t>(payload + 24));  // including BTH, DETH and ICRC
  grh.next_hdr = 0x1b;
  grh.hop_limit = d.to.hop_limit;
  grh.sgid.global.subnet_prefix = htobe64(0xfe80000000000000);
  grh.sgid.global.interface_id = htobe64(self.fabric().guid);
  grh.dgid = d.to.gid;
  std::memcpy(bytes, &grh, sizeof bytes);
  if (d.to.by_ports) [[unlikely]]
    put_source(self, d, payload, bytes);
}

void drop(segment& base) noexcept {
  base.dropped_datagrams.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t bytes_of(std::span<const local_piece> pieces) noexcept {
  std::uint64_t sum = 0;
  for (const local_piece& p : pieces) sum += p.bytes;
  return sum;
}

/// Scatters into the receive: refused if a key of the receiver is invalid or its memory is inaccessible.
access_status scatter(process& self, region_cache& regions, peer& target, const taken_receive& taken,
                      const datagram_header& d, std::span<const local_piece> payload) noexcept {
  const std::uint64_t bytes = bytes_of(payload);
  unsigned char grh[grh_bytes];
  fill_grh(self, d, bytes, grh);
  std::array<local_piece, max_sge + 1> from;
  from[0] = {grh, grh_bytes};
  std::copy(payload.begin(), payload.end(), from.begin() + 1);
  std::array<remote_piece, max_sge> to;
  std::uint64_t left = grh_bytes + bytes;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < taken.count && left != 0; ++i) {
    const shared_sge& s = taken.sges[i];
    if (s.length == 0) continue;
    const region_view* region = regions.find(self, target, s.lkey);
    if (region == nullptr || region->remote_key || (region->access & IBV_ACCESS_LOCAL_WRITE) == 0 ||
        region->pd != taken.pd || !region->covers(s.address, s.length))
      return access_status::refused;
    to[count++] = region->piece(s.address, std::min<std::uint64_t>(s.length, left));
    left -= to[count - 1].bytes;
  }
  return write_remote(self, target, {from.data(), payload.size() + 1}, {to.data(), count});
}

/// Sends to one QP: delivered at once, or put in flight by the deferred engine.
void send_to(queue_pair& qp, std::uint64_t number, std::uint32_t copy, std::uint32_t qpn,
             const datagram_header& d, std::span<const local_piece> payload) noexcept {
  if (qp.owner->motor().deferred()) [[unlikely]]
    qp.owner->air().launch(*qp.owner, qp.ordinal, number, copy, qpn, d, payload);
  else
    deliver_datagram(*qp.owner, qp.regions, qpn, d, payload);
}

/// `by_ports`: only to members that the ports reach.
template <bool by_ports>
[[gnu::always_inline]] inline void send_to_group(queue_pair& qp, std::uint64_t number,
                                                 const datagram_header& d,
                                                 std::span<const local_piece> payload) noexcept {
  registry& fabric = qp.owner->fabric();
  std::uint64_t gid[2];
  std::memcpy(gid, d.to.gid.raw, sizeof gid);
  const std::uint32_t end =
      std::min(fabric.multicast_high.load(std::memory_order_acquire), multicast_entries);
  std::uint32_t copy = 0;
  for (std::uint32_t i = 0; i < end; ++i) {
    const multicast_entry& e = fabric.multicast[i];
    const std::uint32_t version = e.version.load(std::memory_order_acquire);
    const std::uint32_t member_qpn = e.qpn.load(std::memory_order_relaxed);
    if (member_qpn == 0 || version % 2 != 0) continue;
    const bool same = d.to.global ? e.gid[0].load(std::memory_order_relaxed) == gid[0] &&
                                        e.gid[1].load(std::memory_order_relaxed) == gid[1]
                                  : e.lid.load(std::memory_order_relaxed) == d.to.lid;
    if (!same ||
        e.generation.load(std::memory_order_relaxed) !=
            fabric.members[slot_of(member_qpn) % slot_count].generation.load(std::memory_order_relaxed))
      continue;
    if constexpr (by_ports) {
      const peer* const target = qp.owner->find_peer(slot_of(member_qpn));
      if (target == nullptr || !reaches(qp, d.to, *target, member_qpn)) continue;
    }
    // A changed version: the fields may be of two groups. A QP that is being attached may miss a datagram.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (e.version.load(std::memory_order_relaxed) == version)
      send_to(qp, number, ++copy, member_qpn, d, payload);
  }
}

/// False if its peer cannot be reached because this process lacks resources.
template <bool by_ports>
[[gnu::always_inline]] inline bool send(queue_pair& qp, const work_request& wr,
                                        const std::array<local_piece, max_sge>& pieces) noexcept {
  const bool own_qkey = (wr.remote_qkey & 0x80000000U) != 0;
  const datagram_header d{.to = *wr.to,
                          .source_qpn = qp.qp_num,
                          .qkey = own_qkey ? qp.record->qkey.load(std::memory_order_relaxed) : wr.remote_qkey,
                          .imm = wr.imm,
                          .has_imm = wr.opcode == IBV_WR_SEND_WITH_IMM,
                          .solicited = (wr.flags & IBV_SEND_SOLICITED) != 0};
  const std::span<const local_piece> payload{pieces.data(), wr.sge_count};
  if (wr.to->multicast) {
    if (wr.remote_qpn == multicast_qpn) send_to_group<by_ports>(qp, wr.number, d, payload);
  } else {
    const std::uint32_t slot = slot_of(wr.remote_qpn);
    // A shortage here may be temporary, and datagrams may be lost; a persistent one must not look like a
    // silent peer.
    const peer* const target = qp.owner->find_peer(slot);
    if (target == nullptr && qp.owner->why_unreachable(slot, shortage_ns) != 0) return false;
    if constexpr (by_ports)
      if (target == nullptr || !reaches(qp, d.to, *target, wr.remote_qpn)) return true;
    send_to(qp, wr.number, 0, wr.remote_qpn, d, payload);
  }
  return true;
}

/// Not within `execute_ud`, which would become longer for all requests.
[[gnu::noinline]] bool send_by_ports(queue_pair& qp, const work_request& wr,
                                     const std::array<local_piece, max_sge>& pieces) noexcept {
  const auto mtu = 128U << qp.owner->profile().mtu;
  return !wr.to->by_ports || wr.bytes > mtu || send<true>(qp, wr, pieces);
}

}  // namespace

void deliver_datagram(process& self, region_cache& regions, std::uint32_t qpn, const datagram_header& d,
                      std::span<const local_piece> payload) noexcept {
  peer* target = self.find_peer(slot_of(qpn));
  if (target == nullptr) return;
  segment& base = *target->base;
  qp_record& record = base.qps[index_of(qpn)];
  const std::uint32_t state = record.state.load(std::memory_order_acquire);
  if (state < IBV_QPS_RTR || state == IBV_QPS_ERR ||
      record.type.load(std::memory_order_relaxed) != IBV_QPT_UD)
    return;
  if (record.qkey.load(std::memory_order_relaxed) != d.qkey) {
    base.qkey_violations.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  auto* queue = at<receive_queue_record>(base, record.receive_queue.load(std::memory_order_relaxed));
  if (queue == nullptr) return;
  if (self.motor().counts_contexts()) use_context(base, index_of(qpn), self.motor().settings);
  const std::uint64_t bytes = grh_bytes + bytes_of(payload);
  bool limit = false;
  bool bad_key = false;
  {
    // Held during the copy: a receiver that frees its memory waits for this lock.
    const lock_guard lock(queue->lock, self.lock_name(), lock_patience_ns, &base);
    taken_receive taken;
    // The QP may have been destroyed meanwhile, and its queue reused for another.
    if (lock && at<receive_queue_record>(base, record.receive_queue.load(std::memory_order_relaxed)) != queue)
      return;
    if (!lock || !peek_receive(base, *queue, taken) || taken.bytes() < bytes) return drop(base);
    const std::uint32_t now = record.state.load(orders::behind_lock);
    if (now < IBV_QPS_RTR || now == IBV_QPS_ERR) return;
    completion c{};
    c.wr_id = taken.wr_id;
    c.opcode = IBV_WC_RECV;
    c.byte_len = static_cast<std::uint32_t>(bytes);
    c.qp_num = qpn;
    c.src_qp = d.source_qpn;
    c.service_level = d.to.service_level;
    c.slid = static_cast<std::uint16_t>(self.fabric().lid);
    c.wc_flags = d.to.global ? static_cast<unsigned>(IBV_WC_GRH) : 0U;
    if (d.has_imm) {
      c.imm = d.imm;
      c.wc_flags |= IBV_WC_WITH_IMM;
    }
    const access_status placed = scatter(self, regions, *target, taken, d, payload);
    if (placed == access_status::silent) return drop(base);
    bad_key = placed == access_status::refused;
    if (bad_key) c.status = IBV_WC_LOC_PROT_ERR;
    // Not earlier: a sender that dies during its copy has consumed nothing.
    limit = drop_receive(*queue);
    push_completion(self, *target, record.receive_cq.load(std::memory_order_relaxed), c, d.solicited);
  }
  if (bad_key) fail_responder(*target, record, IBV_EVENT_QP_FATAL);
  if (limit) target->call_attention();
}

outcome execute_ud(queue_pair& qp, const work_request& wr) noexcept {
  std::array<local_piece, max_sge> pieces;
  if (!gather(qp, wr, 0, pieces)) return outcome::failure(IBV_WC_LOC_PROT_ERR);
  if (qp.owner->motor().counts_contexts()) use_context(qp.owner->own(), qp.index, qp.owner->motor().settings);
  // A datagram longer than the MTU is dropped without an error (IBTA C10-93.1.1).
  const bool plain = wr.bytes <= mtu_bytes && wr.to->reachable;
  if (plain ? send<false>(qp, wr, pieces) : send_by_ports(qp, wr, pieces)) [[likely]]
    return {};
  return outcome::failure(IBV_WC_LOC_QP_OP_ERR);
}

}  // namespace chorale::soft
