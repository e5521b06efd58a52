// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "queue_pair.hpp"
#include "queues.hpp"

namespace chorale::soft {
namespace {

constexpr std::uint64_t entry_bytes(std::uint32_t sges) noexcept {
  return sizeof(receive_entry) + std::uint64_t{sges} * sizeof(shared_sge);
}

/// The entry at a position, with room for `sges`; nullptr if the record is invalid.
receive_entry* entry_at(segment& base, receive_queue_record& queue, std::uint64_t position,
                        std::uint32_t& sges) noexcept {
  const std::uint64_t mask = queue.mask.load(std::memory_order_relaxed);
  sges = queue.sge_limit.load(std::memory_order_relaxed);
  if (sges > max_sge) return nullptr;
  const std::uint64_t bytes = entry_bytes(sges);
  const std::uint64_t place = queue.ring.load(std::memory_order_relaxed);
  if (place % alignof(receive_entry) != 0) return nullptr;
  auto* ring = at<unsigned char>(base, place, (mask + 1) * bytes);
  return ring == nullptr ? nullptr : reinterpret_cast<receive_entry*>(ring + (position & mask) * bytes);
}

}  // namespace

bool peek_receive(segment& base, receive_queue_record& queue, taken_receive& taken) noexcept {
  const std::uint64_t head = queue.head.load(std::memory_order_relaxed);
  // The owner writes `tail` with each posted receive, so takers read it only when they know of no further
  // receive.
  if (head >= queue.tail_seen.load(std::memory_order_relaxed)) {
    const std::uint64_t tail = queue.tail.load(std::memory_order_acquire);
    if (head == tail) return false;
    queue.tail_seen.store(tail, std::memory_order_relaxed);
  }
  std::uint32_t room = 0;
  const receive_entry* entry = entry_at(base, queue, head, room);
  if (entry == nullptr) return false;
  // The owner has written the next entries: prefetch their lines meanwhile.
  std::uint32_t room_after = 0;
  __builtin_prefetch(entry_at(base, queue, head + 1, room_after));
  taken.wr_id = entry->wr_id;
  taken.pd = queue.pd.load(std::memory_order_relaxed);
  const std::uint32_t count = entry->sge_count;
  taken.count = std::min(count, room);
  const auto* sges = reinterpret_cast<const shared_sge*>(entry + 1);
  std::copy_n(sges, taken.count, taken.sges);
  return true;
}

bool drop_receive(receive_queue_record& queue) noexcept {
  const std::uint64_t head = queue.head.load(std::memory_order_relaxed) + 1;
  queue.head.store(head, std::memory_order_release);
  const std::uint32_t limit = queue.limit.load(std::memory_order_relaxed);
  if (limit == 0 || queue.tail.load(std::memory_order_relaxed) - head >= limit) return false;
  queue.limit.store(0, std::memory_order_relaxed);
  queue.limit_reached.store(1, std::memory_order_release);
  return true;
}

receive_queue_record* process::take_receive_queue_record() {
  {
    const std::lock_guard lock(spare_records_mutex_);
    if (!spare_records_.empty()) {
      receive_queue_record* record = spare_records_.back();
      spare_records_.pop_back();
      return record;
    }
  }
  return memory().make<receive_queue_record>();
}

void process::give_back(receive_queue_record* record) noexcept {
  try {
    const std::lock_guard lock(spare_records_mutex_);
    spare_records_.push_back(record);
  } catch (...) {  // no memory for the entry: the record is not reused
  }
}

int open_receive_queue(process& self, receive_queue& queue, std::uint32_t max_wr, std::uint32_t sges,
                       std::uint32_t pd) noexcept {
  receive_queue_record* record = nullptr;
  try {
    const std::uint64_t entries = std::bit_ceil(std::uint64_t{std::max(max_wr, 1U)});
    const std::uint64_t bytes = entries * entry_bytes(sges);
    record = self.take_receive_queue_record();
    const std::uint64_t ring = record == nullptr ? 0 : self.memory().allocate(bytes);
    if (ring != 0) {
      queue.ring = ring;
      queue.ring_bytes = bytes;
      queue.mask = entries - 1;
      queue.max_wr = max_wr;
      queue.max_sge = sges;
      record->pd.store(pd);
      record->sge_limit.store(sges);
      record->mask.store(static_cast<std::uint32_t>(entries - 1));
      record->ring.store(ring);
      queue.record = record;
      return 0;
    }
  } catch (...) {  // no memory for the arena's own entries
  }
  // A queue must not keep a record without a ring, since closing it frees the ring of its record.
  if (record != nullptr) self.give_back(record);
  return ENOMEM;
}

void close_receive_queue(process& self, receive_queue& queue) noexcept {
  if (queue.record == nullptr || self.abandoned()) return;
  receive_queue_record& r = *std::exchange(queue.record, nullptr);
  {
    const lock_guard lock(r.lock, self.lock_name(), lock_patience_ns, &self.own());
    if (!lock) return;  // a stopped process holds it: neither is reused
    r.ring.store(0);
    r.mask.store(0);
    r.sge_limit.store(0);
    r.limit.store(0);
    r.limit_reached.store(0);
    r.head.store(0);
    r.tail.store(0);
    r.tail_seen.store(0);
  }
  self.memory().release(queue.ring, queue.ring_bytes);
  self.give_back(&r);
}

int post_receives(process& self, receive_queue& queue, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept {
  if (self.abandoned()) {
    if (bad != nullptr) *bad = wr;
    return EINVAL;
  }
  receive_queue_record& r = *queue.record;
  const std::lock_guard lock(queue.posting);
  std::uint64_t tail = r.tail.load(std::memory_order_relaxed);
  int status = 0;
  for (; wr != nullptr; wr = wr->next) {
    if (wr->num_sge < 0 || static_cast<std::uint32_t>(wr->num_sge) > queue.max_sge) {
      status = EINVAL;
    } else if (tail - std::max(queue.head_seen, queue.polled.load(std::memory_order_acquire)) >=
               queue.max_wr) {
      queue.head_seen = r.head.load(std::memory_order_acquire);
      if (tail - queue.head_seen >= queue.max_wr) status = ENOMEM;
    }
    if (status != 0) {
      if (bad != nullptr) *bad = wr;
      break;
    }
    // The owner knows the location of the entry: it need not read the record, to whose cache line initiators
    // write.
    const std::uint64_t bytes = entry_bytes(queue.max_sge);
    auto* entry = reinterpret_cast<receive_entry*>(
        at<unsigned char>(self.own(), queue.ring + (tail & queue.mask) * bytes, bytes));
    entry->wr_id = wr->wr_id;
    entry->sge_count = static_cast<std::uint32_t>(wr->num_sge);
    auto* sges = reinterpret_cast<shared_sge*>(entry + 1);
    for (int i = 0; i < wr->num_sge; ++i) {
      const ibv_sge& s = wr->sg_list[i];
      sges[i] = {s.addr, s.length, s.lkey};
      if (self.motor().deferred()) poison_receive(self, s, r.pd.load(std::memory_order_relaxed));
    }
    ++tail;
    r.tail.store(tail, std::memory_order_release);
  }
  return status;
}

}  // namespace chorale::soft
