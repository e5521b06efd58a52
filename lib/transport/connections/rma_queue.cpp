// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include <chorale/transport/connections/rma_queue.hpp>

namespace chorale::transport {
namespace {

/// A word of an inbox that is never written.
constexpr std::size_t unwritten_offset = mailbox_layout::farewell_offset + sizeof(std::uint64_t);
static_assert(unwritten_offset + sizeof(std::uint64_t) <= mailbox_layout::blocks_offset);

/// Immediate data of a notification: 31 bits that identify its call.
std::uint32_t notice_word(call_id now) noexcept {
  return (now.signature ^ static_cast<std::uint32_t>(now.number) * 0x9e3779b1U) >> 1;
}

void copy_here(ibv_wr_opcode opcode, std::byte* theirs, std::span<const std::byte> memory) {
  if (memory.empty()) return;
  if (opcode == IBV_WR_RDMA_READ)
    std::memmove(const_cast<std::byte*>(memory.data()), theirs, memory.size());
  else
    std::memmove(theirs, memory.data(), memory.size());
}

}  // namespace

rma_queue::rma_queue(connections& links, const config& settings, connections& near_atomics)
    : links_(&links),
      near_atomics_(&near_atomics),
      rank_(links.owner().rank()),
      ranks_(links.owner().size()),
      cache_(links.port().domain(), settings, links.port().device().provider().finds_by_address,
             links.port().device().remote_access()),
      peers_(links.owner().size()) {
  if (const device_port* const near = links.near_port())
    near_cache_.emplace(near->domain(), settings, near->device().provider().finds_by_address,
                        near->device().remote_access());
}

exposure rma_queue::registered(std::span<const std::byte> memory, registration_cache::rights wanted,
                               peer_set peers) {
  auto near = reaches_near(peers) ? near_cache_->find(memory, wanted) : registration_cache::handle{};
  auto far = reaches_far(peers) ? cache_.find(memory, wanted) : registration_cache::handle{};
  return {std::move(far), std::move(near), memory, rank_};
}

exposure rma_queue::expose_alone(std::span<std::byte> memory, peer_set peers) {
  const auto alone = [&](const device_port& over) {
    return std::make_unique<verbs::memory_region>(over.domain(), memory.data(), memory.size(),
                                                  IBV_ACCESS_LOCAL_WRITE | over.device().remote_access());
  };
  std::unique_ptr<verbs::memory_region> near;
  std::unique_ptr<verbs::memory_region> far;
  if (!memory.empty() && reaches_near(peers)) near = alone(*links_->near_port());
  if (!memory.empty() && reaches_far(peers)) far = alone(links_->port());
  return {std::move(far), std::move(near), memory, rank_};
}

void rma_queue::reject_local() {
  throw error(errc::invalid_argument,
              "one-sided operation: the local memory does not lie in the given exposure");
}

bool rma_queue::advance(transfer& t) {
  if (t.owner == rank_) {
    copy_here(t.opcode, reinterpret_cast<std::byte*>(t.address), t.memory);
    return true;
  }
  const bool notifies = t.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  if (t.memory.empty() && !notifies) return true;
  // Posted requests need no connection any more; it may have been closed after they completed.
  connection* c = t.last_posted ? links_->find(t.owner) : links_->ready(t.owner);
  if (c == nullptr) return false;
  peer& p = peers_.get(t.owner);
  while (!t.last_posted) {
    if (!links_->has_room(*c) || !links_->may_signal()) return false;
    const std::size_t part = std::min(c->by->largest_request(), t.memory.size() - t.posted_bytes);
    const bool last = t.posted_bytes + part == t.memory.size();
    ibv_sge here{reinterpret_cast<std::uintptr_t>(t.memory.data()) + t.posted_bytes,
                 static_cast<std::uint32_t>(part), t.lkey};
    ibv_send_wr request{};
    request.sg_list = &here;
    request.num_sge = part == 0 ? 0 : 1;
    request.opcode = !last && notifies ? IBV_WR_RDMA_WRITE : t.opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.imm_data = htonl(notice_word(t.now));
    request.wr.rdma.remote_addr = t.address + t.posted_bytes;
    request.wr.rdma.rkey = t.rkey;
    links_->post(*c, request);
    t.posted_bytes += part;
    t.last_posted = last;
    if (request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) ++p.notices_sent;
    t.ticket = c->posted;
    if (t.opcode == IBV_WR_RDMA_READ) continue;
    p.last_put = t.ticket;
    p.is_placed = c->there.in_order;
    if (request.opcode == IBV_WR_RDMA_WRITE) c->there.unannounced = true;
  }
  if (t.opcode != IBV_WR_RDMA_READ) return true;
  links_->reap();
  return c->completed >= t.ticket;
}

bool rma_queue::advance(atomic& a) {
  if (a.remote.owner == rank_) {
    // Own memory also needs the device, whose atomics need not be atomic with respect to the processor's.
    throw error(errc::unsupported, "atomic operation on this rank's own memory");
  }
  connections& links = *a.links;
  connection* c = a.ticket != 0 ? links.find(a.remote.owner) : links.ready(a.remote.owner);
  if (c == nullptr) return false;
  if (!c->there.has_atomics)
    throw error(errc::unsupported,
                fmt::format("the device of rank {} has no atomic operations; use put, get and notifications",
                            a.remote.owner),
                {a.remote.owner});
  pool_block& spare = peers_.get(a.remote.owner).old_value;
  if (a.ticket == 0) {
    if (!links.has_room(*c) || !links.may_signal()) return false;
    if (spare.data == nullptr) spare = c->by->pool.take(sizeof a.old);
    // If this wait ends in vain, nobody gives the place back, since the device may still write to it.
    a.place = std::exchange(spare, {});
    ibv_sge here{reinterpret_cast<std::uintptr_t>(a.place.data), sizeof a.old, a.place.lkey};
    ibv_send_wr request{};
    request.sg_list = &here;
    request.num_sge = 1;
    request.opcode = a.opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.atomic.remote_addr = a.remote.address + a.offset;
    request.wr.atomic.rkey = a.remote.key;
    request.wr.atomic.compare_add = a.first;
    request.wr.atomic.swap = a.second;
    links.post(*c, request);
    a.ticket = c->posted;
  }
  links.reap();
  if (c->completed < a.ticket) return false;
  std::memcpy(&a.old, a.place.data, sizeof a.old);
  c->by->pool.give_back(std::exchange(spare, a.place));
  return true;
}

bool rma_queue::advance(mapping& m) {
  connection* c = links_->ready(m.there.owner);
  if (c == nullptr) return false;
  const std::uint32_t key = links_->is_near(m.there.owner) ? m.there.near_key : m.there.key;
  m.seen = verbs::peer_memory{*c->qp, m.there.address, key, static_cast<std::size_t>(m.there.bytes)};
  return true;
}

bool rma_queue::try_flush(int to) {
  peer* p = peers_.find(to);
  connection* c = links_->find(to);
  if (p == nullptr || c == nullptr) return true;
  if (c->completed >= p->last_put) return true;
  links_->reap();
  return c->completed >= p->last_put;
}

bool rma_queue::try_make_visible(int to) {
  peer* p = peers_.find(to);
  connection* c = links_->find(to);
  if (p != nullptr && c != nullptr && !p->is_placed && !fence(*c, *p)) return false;
  return try_flush(to);
}

bool rma_queue::fence(connection& c, peer& p) {
  // A closed connection has no pending puts: closing has waited for them.
  if (c.ready) {
    if (!links_->has_room(c) || !links_->may_signal()) return false;
    if (p.fenced.data == nullptr) p.fenced = c.by->pool.take(sizeof(std::uint64_t));
    ibv_sge here{reinterpret_cast<std::uintptr_t>(p.fenced.data), sizeof(std::uint64_t), p.fenced.lkey};
    ibv_send_wr request{};
    request.sg_list = &here;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_READ;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma.remote_addr = c.there.inbox + unwritten_offset;
    request.wr.rdma.rkey = c.there.key;
    links_->post(c, request);
    p.last_put = c.posted;
  }
  p.is_placed = true;
  return true;
}

bool rma_queue::try_notified(int from, call_id now) {
  const auto waiting = [&] {
    peer* p = peers_.find(from);
    return p != nullptr && !p->notices.empty() ? p : nullptr;
  };
  peer* p = waiting();
  if (p == nullptr) {
    links_->reap();
    p = waiting();
    if (p == nullptr) return false;
  }
  if (p->notices.front() != notice_word(now)) [[unlikely]] {
    links_->owner().inquiry().mismatch(from, now);
    return false;
  }
  p->notices.pop_front();
  return true;
}

void rma_queue::on_notice(connection& from, std::uint32_t word) {
  peer& p = peers_.get(from.peer);
  p.notices.push_back(word);
  ++p.notices_received;
}

void rma_queue::count(int of, ledger& l) const noexcept {
  const peer* p = peers_.find(of);
  if (p == nullptr) return;
  l.notices_sent = p->notices_sent;
  l.notices_received = p->notices_received;
}

void rma_queue::describe(memory_report& m) const {
  std::size_t words = 0;
  peers_.each(
      [&](const peer& p) { words += in_cache_lines(p.old_value.bytes) + in_cache_lines(p.fenced.bytes); });
  m.staging_bytes += words;
  m.spare_bytes -= words;
  m.user_bytes += cache_.statistics().bytes;
  if (near_cache_) m.user_bytes += near_cache_->statistics().bytes;
}

}  // namespace chorale::transport
