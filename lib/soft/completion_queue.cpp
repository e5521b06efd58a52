// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cerrno>

#include "queue_pair.hpp"
#include "queues.hpp"

namespace chorale::soft {
namespace {

constexpr std::int64_t arming_patience_ns = 100'000'000;

void unpack(const completion& e, ibv_wc& wc) noexcept {
  wc.wr_id = e.wr_id;
  wc.status = static_cast<ibv_wc_status>(e.status);
  wc.opcode = static_cast<ibv_wc_opcode>(e.opcode);
  wc.vendor_err = e.status != IBV_WC_SUCCESS && e.send_count != 0 ? e.imm : 0;
  wc.byte_len = e.byte_len;
  wc.imm_data = e.imm;
  wc.qp_num = e.qp_num;
  wc.src_qp = e.src_qp;
  wc.wc_flags = e.wc_flags;
  wc.pkey_index = 0;
  wc.slid = e.slid;
  wc.sl = e.service_level;
  wc.dlid_path_bits = 0;
}

/// `timestamp`: set to that of the last completion; may be nullptr.
int drain(completion_queue& cq, int count, ibv_wc* wc, std::uint64_t* timestamp = nullptr) noexcept {
  process& self = *cq.owner;
  const std::lock_guard lock(cq.polling);
  int got = 0;
  const std::uint64_t first = cq.next;
  while (got < count) {
    const completion_entry& entry = cq.entries[cq.next & cq.mask];
    if (entry.sequence.load(std::memory_order_acquire) != cq.next + 1) break;
    const completion& e = entry.body;
    ++cq.next;
    if (e.voided != 0) continue;
    // A send queue's slots become free once the program has polled the completion that retires them.
    if (queue_pair* qp = self.qp_table()[index_of(e.qp_num)].load(std::memory_order_relaxed)) {
      if (e.send_count != 0)
        qp->retired.store(e.send_count, std::memory_order_release);
      else if (qp->shared_receives == nullptr)
        qp->receives.polled.fetch_add(1, std::memory_order_release);
    }
    if (timestamp != nullptr) *timestamp = e.timestamp;
    unpack(e, wc[got++]);
  }
  self.see_bounces();
  if (cq.next != first) cq.record->consumer.store(cq.next, std::memory_order_release);
  return got;
}

/// Allocates a ring of at least `entries`; 0 on failure.
std::uint64_t make_ring(process& self, int entries, std::uint64_t& size) {
  size = std::bit_ceil(static_cast<std::uint64_t>(entries));
  return self.memory().allocate(size * sizeof(completion_entry));
}

}  // namespace

bool push_completion(process& self, peer& target, std::uint64_t queue, const completion& what,
                     bool solicited) noexcept {
  segment& base = *target.base;
  auto* cq = at<completion_queue_record>(base, queue);
  if (cq == nullptr) return false;
  bool fire = false;
  {
    // A holder that is stopped delays the completion, which must not be lost: its message is delivered.
    const lock_guard lock(cq->lock, self.lock_name(), target.dead);
    if (!lock) return false;
    const std::uint64_t mask = cq->mask.load(std::memory_order_relaxed);
    auto* ring = at<completion_entry>(base, cq->ring.load(std::memory_order_relaxed), mask + 1);
    if (ring == nullptr || cq->overrun.load(std::memory_order_relaxed) != 0) return false;
    std::uint64_t position = cq->producer.load(std::memory_order_relaxed);
    // A producer that died here had published its entry, but not yet counted it.
    while (ring[position & mask].sequence.load(std::memory_order_relaxed) == position + 1) ++position;
    if (position - cq->consumer_seen.load(std::memory_order_relaxed) > mask) {
      const std::uint64_t consumed = cq->consumer.load(std::memory_order_acquire);
      cq->consumer_seen.store(consumed, std::memory_order_relaxed);
      if (position - consumed > mask) {
        cq->overrun.store(1, std::memory_order_release);
        target.call_attention();
        return false;
      }
    }
    completion_entry& e = ring[position & mask];
    e.body = what;
    if (cq->timestamps.load(std::memory_order_relaxed) != 0) [[unlikely]]
      e.body.timestamp = static_cast<std::uint64_t>(now_ns());
    e.sequence.store(position + 1, std::memory_order_release);
    cq->producer.store(position + 1, std::memory_order_relaxed);
    const notify armed = cq->armed.load(std::memory_order_relaxed);
    if (armed != notify::none) [[unlikely]] {
      fire = armed == notify::any || solicited || what.status != IBV_WC_SUCCESS;
      if (fire) cq->armed.store(notify::none, std::memory_order_relaxed);
    }
  }
  if (fire && cq->channel_fd.load(std::memory_order_relaxed) >= 0 &&
      !target.post_event(cq->channel_fd.load(std::memory_order_relaxed),
                         cq->channel_inode.load(std::memory_order_relaxed),
                         cq->name.load(std::memory_order_relaxed))) {
    cq->owed.store(1, std::memory_order_release);
    target.call_attention();
  }
  return true;
}

int poll_cq(ibv_cq* base, int count, ibv_wc* wc) noexcept {
  return poll(static_cast<completion_queue&>(*base), count, wc, nullptr);
}

int poll(completion_queue& cq, int count, ibv_wc* wc, std::uint64_t* timestamp) noexcept {
  if (cq.owner->abandoned()) [[unlikely]]
    return -1;
  if (cq.owner->motor().deferred()) {
    cq.owner->motor().tick();
    if (cq.owner->has_chores()) cq.owner->progress();
  }
  int got = drain(cq, count, wc, timestamp);
  if (got != 0 || count <= 0) return got;
  if (cq.owner->has_chores()) [[unlikely]] {
    cq.owner->progress();
    got = drain(cq, count, wc, timestamp);
  }
  if (got == 0 && cq.record->overrun.load(std::memory_order_relaxed) != 0) return -1;
  return got;
}

int req_notify_cq(ibv_cq* base, int solicited_only) noexcept {
  auto& cq = static_cast<completion_queue&>(*base);
  const notify wanted = solicited_only != 0 ? notify::solicited : notify::any;
  if (cq.owner->abandoned()) return EINVAL;
  completion_queue_record& r = *cq.record;
  {
    // Under the producers' lock, so that the following poll sees what they published before.
    const lock_guard lock(r.lock, cq.owner->lock_name(), arming_patience_ns);
    if (lock) {
      if (r.armed.load(std::memory_order_relaxed) < wanted) r.armed.store(wanted, std::memory_order_relaxed);
      return 0;
    }
  }
  // A stopped producer must not keep its peers from sleeping. It is unknown whether it sees the following
  // store, so the owner checks again later: a spurious event costs one poll, a missing one may block the
  // program forever.
  r.armed.store(wanted, std::memory_order_seq_cst);
  r.owed.store(1, std::memory_order_release);
  cq.owner->call_attention();
  return 0;
}

void purge_completions(process& self, completion_queue& cq, std::uint32_t qpn) noexcept {
  const std::lock_guard polling(cq.polling);
  const lock_guard lock(cq.record->lock, self.lock_name());
  for (std::uint64_t i = cq.next; cq.entries[i & cq.mask].sequence.load(std::memory_order_acquire) == i + 1;
       ++i)
    if (cq.entries[i & cq.mask].body.qp_num == qpn) cq.entries[i & cq.mask].body.voided = 1;
}

ibv_cq* create_cq(ibv_context* c, int entries, void* cq_context, ibv_comp_channel* channel,
                  int vector) noexcept {
  process& self = process_of(c);
  if (entries < 1 || static_cast<std::uint32_t>(entries) > self.profile().completions || vector < 0 ||
      vector >= c->num_comp_vectors || self.abandoned()) {
    errno = EINVAL;
    return nullptr;
  }
  auto* cq = make_object<completion_queue>(c);
  if (cq == nullptr) return nullptr;
  std::uint64_t ring = 0;
  std::uint64_t size = 0;
  try {
    cq->record = self.memory().make<completion_queue_record>();
    ring = cq->record == nullptr ? 0 : make_ring(self, entries, size);
    if (ring == 0) throw std::bad_alloc();
    cq->owner = &self;
    cq->entries = at<completion_entry>(self.own(), ring, size);
    cq->mask = size - 1;
    cq->cqe = static_cast<int>(size);
    cq->cq_context = cq_context;
    cq->channel = channel;
    cq->name = self.next_name();
    cq->handle = static_cast<std::uint32_t>(cq->name);
    completion_queue_record& r = *cq->record;
    r.name.store(cq->name);
    r.channel_fd.store(channel == nullptr ? -1 : channel->fd);
    if (channel != nullptr) r.channel_inode.store(static_cast<completion_channel*>(channel)->inode);
    r.mask.store(static_cast<std::uint32_t>(cq->mask));
    r.ring.store(ring);
    const std::lock_guard lock(self.objects_mutex());
    self.completion_queues().push_back(cq);
    if (channel != nullptr) static_cast<completion_channel*>(channel)->queues.fetch_add(1);
    return cq;
  } catch (...) {
    if (ring != 0) self.memory().release(ring, size * sizeof(completion_entry));
    self.memory().destroy(cq->record);
    destroy_object(cq);
    errno = ENOMEM;
    return nullptr;
  }
}

int resize_cq(ibv_cq* base, int entries) noexcept {
  auto& cq = static_cast<completion_queue&>(*base);
  process& self = *cq.owner;
  if (entries < 1 || static_cast<std::uint32_t>(entries) > self.profile().completions || self.abandoned())
    return EINVAL;
  try {
    std::uint64_t size = 0;
    const std::uint64_t ring = make_ring(self, entries, size);
    if (ring == 0) return ENOMEM;
    auto* fresh = at<completion_entry>(self.own(), ring, size);
    const std::uint64_t old_ring = self.memory().offset_of(cq.entries);
    const std::uint64_t old_size = cq.mask + 1;
    {
      const std::lock_guard polling(cq.polling);
      const lock_guard lock(cq.record->lock, self.lock_name());
      std::uint64_t end = cq.next;
      while (lock && end - cq.next <= cq.mask &&
             cq.entries[end & cq.mask].sequence.load(std::memory_order_acquire) == end + 1)
        ++end;
      if (!lock || end - cq.next > size) {
        self.memory().release(ring, size * sizeof(completion_entry));
        return lock ? EINVAL : EBUSY;
      }
      for (std::uint64_t i = cq.next; i != end; ++i) {
        fresh[i & (size - 1)].body = cq.entries[i & cq.mask].body;
        fresh[i & (size - 1)].sequence.store(i + 1, std::memory_order_relaxed);
      }
      cq.entries = fresh;
      cq.mask = size - 1;
      cq.cqe = static_cast<int>(size);
      cq.record->ring.store(ring, std::memory_order_relaxed);
      cq.record->mask.store(static_cast<std::uint32_t>(size - 1), std::memory_order_relaxed);
    }
    self.memory().release(old_ring, old_size * sizeof(completion_entry));
    return 0;
  } catch (...) {
    return ENOMEM;
  }
}

int destroy_cq(ibv_cq* base) noexcept {
  auto* cq = static_cast<completion_queue*>(base);
  process& self = *cq->owner;
  if (cq->users.load() != 0) return EBUSY;
  {
    const std::lock_guard lock(self.objects_mutex());
    std::erase(self.completion_queues(), cq);
  }
  if (!settle_events(context::of(cq->context), cq, cq->asynchronous, &cq->completions)) return EBUSY;
  if (cq->channel != nullptr) static_cast<completion_channel*>(cq->channel)->queues.fetch_sub(1);
  if (!self.abandoned()) {
    self.memory().destroy(cq->entries, cq->mask + 1);
    self.memory().destroy(cq->record);
  }
  destroy_object(cq);
  return 0;
}

}  // namespace chorale::soft
