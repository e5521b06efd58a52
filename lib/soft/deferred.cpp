// SPDX-License-Identifier: Apache-2.0
// The deferred engine behaves as the specification permits, but as a device that executes at once never does:
// requests wait, writes land line by line, and memory that belongs to the device meanwhile is poisoned. The
// seed decides.
#include <algorithm>
#include <array>

#include <chorale/core/clock.hpp>
#include <chorale/core/fnv.hpp>

#include "queue_pair.hpp"

namespace chorale::soft {
namespace {

constexpr unsigned char poison = 0xdb;
constexpr std::uint64_t line = 64;

std::uint64_t fingerprint(const work_request& wr) noexcept {
  std::uint64_t h = wr.bytes;
  for (std::uint32_t i = 0; i < wr.sge_count; ++i) {
    const auto* data = reinterpret_cast<const char*>(wr.sges[i].addr);
    std::uint64_t left = wr.sges[i].length;
    for (; left >= 8; left -= 8, data += 8) {
      std::uint64_t word;
      std::memcpy(&word, data, 8);
      h = (h ^ word) * 0x9fb21c651e98df25;
      h ^= h >> 29;
    }
    h = detail::fnv1a({data, left}, h);
  }
  return h;
}

bool may_touch(queue_pair& qp, const work_request& wr, std::uint32_t access) noexcept {
  return std::all_of(wr.sges, wr.sges + wr.sge_count,
                     [&](const ibv_sge& s) { return local_range(qp.owner->regions(), s, qp.pd_id, access); });
}

/// The part [begin, begin + bytes) of a message; returns the number of its pieces.
std::uint32_t part_of(std::span<const local_piece> message, std::uint64_t begin, std::uint64_t bytes,
                      std::array<local_piece, max_sge>& part) noexcept {
  std::uint32_t count = 0;
  for (const local_piece& p : message) {
    if (bytes == 0) break;
    if (begin >= p.bytes) {
      begin -= p.bytes;
      continue;
    }
    const std::uint64_t taken = std::min<std::uint64_t>(p.bytes - begin, bytes);
    part[count++] = {p.data + begin, taken};
    bytes -= taken;
    begin = 0;
  }
  return count;
}

/// After a fence, a request may send data that a read before the fence fetches: its buffer changes
/// legitimately.
bool is_fenced(const stalled_request& r) noexcept {
  return (r.wr.flags & IBV_SEND_FENCE) != 0;
}

/// Keeps a part of a write for later. False if there is no memory for it.
bool delay(queue_pair& qp, std::uint64_t number, std::span<const local_piece> part,
           const remote_piece& to) noexcept {
  engine& motor = qp.owner->motor();
  const std::uint64_t due =
      motor.now() + 1 + dice{motor.settings, matter::lateness, qp.ordinal, number}.ticks();
  try {
    late_bytes l{to.address, to.key, {}, due};
    l.data.reserve(to.bytes);
    for (const local_piece& p : part) l.data.insert(l.data.end(), p.data, p.data + p.bytes);
    if (!qp.owner->add_stalled(qp)) return false;
    qp.late.push_back(std::move(l));
  } catch (...) {
    return false;
  }
  motor.remind(due);
  motor.counters.late.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace

void defer(queue_pair& qp, stalled_request& r) noexcept {
  engine& motor = qp.owner->motor();
  dice holding{motor.settings, matter::hold, qp.ordinal, r.wr.number};
  r.due = motor.now() + holding.ticks();
  r.completes = r.due + dice{motor.settings, matter::completion, qp.ordinal, r.wr.number}.ticks();
  if (r.completes != motor.now()) motor.counters.held.fetch_add(1, std::memory_order_relaxed);
  if (r.wr.reads_back()) {
    constexpr probability half = 1ULL << 31;
    r.may_be_overtaken = dice{motor.settings, matter::overtaking, qp.ordinal, r.wr.number}.happens(half);
    if (may_touch(qp, r.wr, IBV_ACCESS_LOCAL_WRITE))
      for (const ibv_sge& s : r.sges)
        if (s.length != 0) std::memset(reinterpret_cast<void*>(s.addr), poison, s.length);
  } else if ((r.wr.flags & IBV_SEND_INLINE) == 0 && !is_fenced(r) &&
             std::none_of(qp.stalled.begin(), qp.stalled.end(), is_fenced) && may_touch(qp, r.wr, 0)) {
    r.watched = true;
    r.fingerprint = fingerprint(r.wr);
  }
}

void spoil_if_changed(queue_pair& qp, stalled_request& r) noexcept {
  if (!r.watched || !may_touch(qp, r.wr, 0) || fingerprint(r.wr) == r.fingerprint) return;
  r.watched = false;
  qp.owner->motor().counters.changed.fetch_add(1, std::memory_order_relaxed);
  try {
    r.inline_data.assign(r.wr.bytes, poison);
  } catch (...) {  // no memory for the poison: send the data as it is
    return;
  }
  r.sges.assign(
      1, {reinterpret_cast<std::uint64_t>(r.inline_data.data()), static_cast<std::uint32_t>(r.wr.bytes), 0});
  r.wr.sges = r.sges.data();
  r.wr.sge_count = 1;
  r.wr.flags |= IBV_SEND_INLINE;
}

void poison_receive(process& self, const ibv_sge& buffer, std::uint32_t pd) noexcept {
  if (local_range(self.regions(), buffer, pd, IBV_ACCESS_LOCAL_WRITE) && buffer.length != 0)
    std::memset(reinterpret_cast<void*>(buffer.addr), poison, buffer.length);
}

access_status place_in_lines(queue_pair& qp, const work_request& wr, std::span<const local_piece> from,
                             const remote_piece& to) noexcept {
  constexpr std::uint32_t most_parts = 9;
  constexpr probability quarter = 1ULL << 30;
  engine& motor = qp.owner->motor();
  dice cuts{motor.settings, matter::placing, qp.ordinal, wr.number};
  const segment& target = *qp.target->base;
  const auto placed = static_cast<placement>(target.placed.load(std::memory_order_relaxed));
  const bool keeps_requests = placed == placement::ordered || placed == placement::scattered;
  const bool keeps_bytes = placed == placement::ordered || placed == placement::within_request;
  const bool comes_late =
      !keeps_requests && wr.opcode == IBV_WR_RDMA_WRITE && qp.qp_type == IBV_QPT_RC && cuts.below(2) == 0;
  if (comes_late && keeps_bytes && delay(qp, wr.number, from, to)) return access_status::done;

  const std::uint64_t unit = keeps_requests                                               ? line
                             : target.lines_in_order.load(std::memory_order_relaxed) != 0 ? 2 * line
                                                                                          : 1;
  std::array<std::uint64_t, most_parts + 1> edges{};
  std::uint32_t parts = 1;
  const std::uint64_t first = unit - to.address % unit;  // up to the first boundary within the message
  if (first < wr.bytes) {
    const std::uint64_t units = (wr.bytes - first + unit - 1) / unit;
    const std::uint32_t wanted =
        1 + cuts.below(static_cast<std::uint32_t>(std::min<std::uint64_t>(units, most_parts - 1)));
    for (std::uint32_t i = 0; i < wanted; ++i) edges[parts++] = first + unit * (cuts.next() % units);
    std::sort(edges.begin() + 1, edges.begin() + parts);
  }
  edges[parts] = wr.bytes;
  std::array<std::uint32_t, most_parts> order{};
  for (std::uint32_t i = 0; i < parts; ++i) order[i] = i;
  if (!keeps_bytes)
    for (std::uint32_t i = parts; i > 1; --i) std::swap(order[i - 1], order[cuts.below(i)]);
  if (parts > 1) motor.counters.scattered.fetch_add(1, std::memory_order_relaxed);
  if (!std::is_sorted(order.begin(), order.begin() + parts))
    motor.counters.disordered.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < parts; ++i) {
    const std::uint64_t begin = edges[order[i]];
    const std::uint64_t bytes = edges[order[i] + 1] - begin;
    if (bytes == 0) continue;
    std::array<local_piece, max_sge> part;
    const std::uint32_t count = part_of(from, begin, bytes, part);
    const remote_piece there{to.address + begin, bytes, to.mapped == nullptr ? nullptr : to.mapped + begin,
                             to.key};
    if (comes_late && !keeps_bytes && cuts.below(2) == 0 &&
        delay(qp, wr.number + i, {part.data(), count}, there))
      continue;
    const auto result = write_remote(*qp.owner, *qp.target, {part.data(), count}, {&there, 1});
    if (result != access_status::done) return result;
    if (i + 1 < parts && cuts.happens(quarter)) clock::give_way();
  }
  return access_status::done;
}

void place_late(queue_pair& qp, bool all) noexcept {
  if (qp.late.empty()) return;
  engine& motor = qp.owner->motor();
  dice order{motor.settings, matter::order, qp.ordinal, qp.posted};
  for (std::size_t i = qp.late.size(); i > 1; --i)
    std::swap(qp.late[i - 1], qp.late[order.below(static_cast<std::uint32_t>(i))]);
  std::erase_if(qp.late, [&](late_bytes& l) {
    if (!all && motor.now() < l.due) {
      motor.remind(l.due);
      return false;
    }
    // If the target has deregistered the region meanwhile, the bytes are dropped.
    if (const region_view* region =
            open_region(qp, l.key, l.address, l.data.size(), IBV_ACCESS_REMOTE_WRITE)) {
      const local_piece from{l.data.data(), l.data.size()};
      const remote_piece to = region->piece(l.address, l.data.size());
      static_cast<void>(write_remote(*qp.owner, *qp.target, {&from, 1}, {&to, 1}));
    }
    return true;
  });
}

}  // namespace chorale::soft
