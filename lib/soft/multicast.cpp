// SPDX-License-Identifier: Apache-2.0
// Multicast membership, in the registry: senders in any process read it, so no process has to answer.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "queue_pair.hpp"

namespace chorale::soft {
namespace {

/// True if the process that made the entry has ended, so that the entry may be reused. The caller holds the
/// lock.
bool is_stale(process& self, const multicast_entry& e) noexcept {
  if (e.version.load(std::memory_order_relaxed) % 2 != 0) return true;  // it ended while attaching
  const std::uint32_t qpn = e.qpn.load();
  const std::uint32_t slot = slot_of(qpn);
  if (slot >= slot_count || self.fabric().members[slot].generation.load() != e.generation.load()) return true;
  if (slot == self.slot()) return self.qp_table()[index_of(qpn)].load() == nullptr;
  return !is_alive(self.fabric().members[slot]);
}

void words_of(const union ibv_gid* gid, std::uint64_t (&words)[2]) noexcept {
  words[0] = words[1] = 0;
  if (gid != nullptr) std::memcpy(words, gid->raw, sizeof words);
}

bool matches(const multicast_entry& e, const std::uint64_t (&words)[2], std::uint16_t lid) noexcept {
  return e.gid[0].load() == words[0] && e.gid[1].load() == words[1] && e.lid.load() == lid;
}

}  // namespace

int attach_mcast(ibv_qp* base, const union ibv_gid* gid, std::uint16_t lid) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  process& self = *qp.owner;
  if (qp.qp_type != IBV_QPT_UD || !verbs::is_group(gid, lid) || self.abandoned()) return EINVAL;
  if (self.profile().multicast_groups == 0) return EOPNOTSUPP;
  std::uint64_t words[2];
  words_of(gid, words);
  registry& fabric = self.fabric();
  try {
    const std::lock_guard guard(qp.attributes_mutex);
    qp.groups.reserve(qp.groups.size() + 1);
    for (const std::uint32_t i : qp.groups)
      if (matches(fabric.multicast[i], words, lid)) return 0;
    const lock_guard lock(fabric.multicast_lock, self.lock_name());
    if (!lock) return EBUSY;
    const std::uint32_t high = std::min(fabric.multicast_high.load(), multicast_entries);
    std::uint32_t free = multicast_entries;
    for (std::uint32_t i = 0; i < high && free == multicast_entries; ++i) {
      const std::uint32_t holder = fabric.multicast[i].qpn.load();
      if (holder == 0 || is_stale(self, fabric.multicast[i])) free = i;
    }
    if (free == multicast_entries) free = high;
    auto& memberships = self.in_use().memberships;
    if (free == multicast_entries || memberships.load() >= self.profile().multicast_groups) return ENOMEM;
    memberships.fetch_add(1);
    multicast_entry& e = fabric.multicast[free];
    const std::uint32_t version = e.version.load(std::memory_order_relaxed) | 1U;
    e.version.store(version, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    e.gid[0].store(words[0], std::memory_order_relaxed);
    e.gid[1].store(words[1], std::memory_order_relaxed);
    e.lid.store(lid, std::memory_order_relaxed);
    e.generation.store(fabric.members[self.slot()].generation.load(), std::memory_order_relaxed);
    e.qpn.store(qp.qp_num, std::memory_order_relaxed);
    e.version.store(version + 1, std::memory_order_release);
    if (free == high) fabric.multicast_high.store(high + 1, std::memory_order_release);
    qp.groups.push_back(free);
    return 0;
  } catch (...) {
    return ENOMEM;
  }
}

int detach_mcast(ibv_qp* base, const union ibv_gid* gid, std::uint16_t lid) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  process& self = *qp.owner;
  if (qp.qp_type != IBV_QPT_UD || !verbs::is_group(gid, lid)) return EINVAL;
  std::uint64_t words[2];
  words_of(gid, words);
  if (self.abandoned()) {  // the parent's: fork() may have copied the lock while another thread held it
    qp.groups.clear();
    return 0;
  }
  const std::lock_guard guard(qp.attributes_mutex);
  registry& fabric = self.fabric();
  for (auto it = qp.groups.begin(); it != qp.groups.end(); ++it) {
    if (!matches(fabric.multicast[*it], words, lid)) continue;
    const lock_guard lock(fabric.multicast_lock, self.lock_name());
    if (!lock) return EBUSY;
    fabric.multicast[*it].qpn.store(0, std::memory_order_release);
    self.in_use().memberships.fetch_sub(1);
    qp.groups.erase(it);
    return 0;
  }
  return EINVAL;
}

}  // namespace chorale::soft
