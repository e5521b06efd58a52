// SPDX-License-Identifier: Apache-2.0
// The copy path of last resort: a slot in the target's segment, and a thread of the target that copies.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <type_traits>

#include "../core/pages.hpp"
#include "copy.hpp"

namespace chorale::soft {
namespace {

constexpr std::int64_t bounce_patience_ns = 10'000'000'000;

/// Withdraws the request of the slot's previous user, whose lock this thread now holds. False if the target
/// is working on it.
bool is_vacant(bounce_slot& slot) noexcept {
  bounce_phase seen = slot.phase.load(std::memory_order_acquire);
  while (seen.state == bounce_state::request)
    if (slot.phase.compare_exchange_strong(seen, bounce_phase{seen.hold, bounce_state::idle})) return true;
  return seen.state != bounce_state::busy;
}

/// True if the user that the phase belongs to has lost the slot or died.
bool is_left_behind(std::uint64_t lock_word, const bounce_phase& seen) noexcept {
  const std::uint32_t owner = shared_lock::owner(lock_word);
  return owner == 0 || shared_lock::hold(lock_word) != seen.hold || owner_gone(owner);
}

/// Takes a slot of the target; nullptr if the target is dead or all slots stay taken.
bounce_slot* take_slot(process& self, peer& target) noexcept {
  const std::int64_t begun = now_ns();
  for (unsigned round = 0; !target.dead.load(); ++round) {
    for (unsigned i = 0; i < bounce_slots; ++i) {
      bounce_slot& slot = target.base->bounce[(i + self.slot()) % bounce_slots];
      const std::uint64_t seen = slot.lock.word.load(std::memory_order_relaxed);
      const std::uint32_t holder = shared_lock::owner(seen);
      bool taken = slot.lock.try_lock(self.lock_name());
      if (!taken && round % 64 == 63 && holder != 0 && owner_gone(holder)) {
        std::uint64_t expected = seen;
        taken = slot.lock.word.compare_exchange_strong(expected, shared_lock::next(seen, self.lock_name()));
      }
      if (!taken) continue;
      if (is_vacant(slot)) return &slot;
      slot.lock.unlock();
    }
    self.serve_bounces();
    back_off(round);
    if (now_ns() - begun > bounce_patience_ns) break;
  }
  return nullptr;
}

/// Passes the filled slot to the target and waits. False if it does not respond: the slot must not be reused.
bool ask(process& self, peer& target, bounce_slot& slot) noexcept {
  const std::uint32_t hold = shared_lock::hold(slot.lock.word.load(std::memory_order_relaxed));
  slot.phase.store(bounce_phase{hold, bounce_state::request}, std::memory_order_release);
  target.wake();
  const std::int64_t begun = now_ns();
  for (unsigned round = 0;
       slot.phase.load(std::memory_order_acquire) != bounce_phase{hold, bounce_state::done}; ++round) {
    if (target.dead.load()) return false;
    if (now_ns() - begun > bounce_patience_ns) {
      bounce_phase expected{hold, bounce_state::request};
      if (slot.phase.compare_exchange_strong(expected, bounce_phase{hold, bounce_state::idle})) return false;
    }
    // The target may be waiting for this process's own service.
    self.serve_bounces();
    back_off(round);
  }
  return true;
}

/// A dead target's slot is a zero page, where a write would allocate memory.
void give_back(const peer& target, bounce_slot& slot) noexcept {
  if (!target.dead.load()) slot.lock.unlock();
}

/// The rights that an operation needs of a region, one of which suffices: by the remote key, and by the local
/// key, for a receive.
struct needed_rights {
  std::uint32_t remote;
  std::uint32_t local;
};
needed_rights rights_for(bounce_operation operation) noexcept {
  switch (operation) {
    case bounce_operation::write:
      return {IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_LOCAL_WRITE};
    case bounce_operation::read:
      return {IBV_ACCESS_REMOTE_READ, 0};
    case bounce_operation::fetch_add:
    case bounce_operation::compare_swap:
      return {IBV_ACCESS_REMOTE_ATOMIC, 0};
  }
  return {0, 0};
}

/// True if the range is mapped and lies in a region whose key permits the operation.
bool reachable(const mr_record* regions, bounce_operation operation, std::uint32_t key, std::uint64_t address,
               std::uint64_t bytes) noexcept {
  const mr_record& r = regions[key >> 16];
  if ((r.generation.load(orders::behind_lock) & 1U) == 0) return false;
  const needed_rights needed = rights_for(operation);
  const std::uint32_t right = key == r.rkey.load() ? needed.remote : key == r.lkey.load() ? needed.local : 0;
  if ((r.access.load() & right) == 0) return false;
  const std::uint64_t begin = r.address.load();
  const std::uint64_t length = r.length.load();
  if (address < begin || bytes > length || address - begin > length - bytes) return false;
  unsigned char resident[bounce_bytes / 4096 + 2];  // for the smallest page size
  const detail::page_range pages = detail::pages_around(address, bytes);
  return mincore(pages.data(), pages.bytes, resident) == 0;
}

void serve_one(process& self, bounce_slot& slot, std::atomic<std::uint64_t>& served) noexcept {
  // Read once: the peer could change the fields between check and use.
  const auto once = [](const auto& field) {
    return *const_cast<const volatile std::remove_cvref_t<decltype(field)>*>(&field);
  };
  const std::uint32_t length = once(slot.length);
  const std::uint64_t address = once(slot.address);
  const bounce_operation operation = once(slot.operation);
  auto* memory = reinterpret_cast<unsigned char*>(address);
  const bool atomic = operation == bounce_operation::fetch_add || operation == bounce_operation::compare_swap;
  if (length > bounce_bytes || (atomic && (length != 8 || address % 8 != 0)) ||
      !reachable(self.regions(), operation, once(slot.key), address, length)) {
    slot.error = EFAULT;
  } else {
    slot.error = 0;
    if (operation == bounce_operation::write) {
      ordered_copy(memory, slot.data, length);
    } else if (operation == bounce_operation::read) {
      std::memcpy(slot.data, memory, length);
    } else {
      const lock_guard lock(self.own().atomics_lock, self.lock_name());
      if (lock)
        slot.result = atomic_here(memory, operation, slot.operand[0], slot.operand[1]);
      else
        slot.error = EBUSY;
    }
  }
  served.fetch_add(1, std::memory_order_release);
}

}  // namespace

void process::serve_bounces() noexcept {
  for (std::uint32_t i = 0; i < bounce_slots; ++i) {
    bounce_slot& slot = own().bounce[i];
    bounce_phase seen = slot.phase.load(std::memory_order_relaxed);
    if (seen.state != bounce_state::request) continue;
    if (serving_[i].exchange(true)) continue;
    if (slot.phase.compare_exchange_strong(seen, bounce_phase{seen.hold, bounce_state::busy})) {
      serve_one(*this, slot, bounced_);
      slot.phase.store(bounce_phase{seen.hold, bounce_state::done}, std::memory_order_release);
    }
    serving_[i].store(false, std::memory_order_release);
  }
}

bool settle_bounces(segment& base, std::int64_t patience_ns) noexcept {
  for (bounce_slot& slot : base.bounce) {
    bounce_phase seen = slot.phase.load(std::memory_order_acquire);
    const auto is_open = [&] {
      return (seen.state == bounce_state::request || seen.state == bounce_state::busy) &&
             is_left_behind(slot.lock.word.load(std::memory_order_acquire), seen);
    };
    if (!is_open()) continue;
    // A peer that takes over the slot may withdraw the same request meanwhile.
    while (seen.state == bounce_state::request &&
           !slot.phase.compare_exchange_strong(seen, bounce_phase{seen.hold, bounce_state::idle}) &&
           is_open()) {
    }
    const std::int64_t begun = now_ns();
    for (unsigned round = 0;
         seen.state == bounce_state::busy && slot.phase.load(std::memory_order_acquire) == seen; ++round) {
      if (now_ns() - begun > patience_ns) return false;
      serve_while_waiting();
      back_off(round);
    }
  }
  return true;
}

access_status bounce_copy(process& self, peer& target, bounce_operation operation, unsigned char* local,
                          const remote_piece& remote) noexcept {
  bounce_slot* slot = take_slot(self, target);
  if (slot == nullptr) return access_status::silent;
  for (std::size_t done = 0; done < remote.bytes;) {
    const auto bytes = static_cast<std::uint32_t>(std::min<std::size_t>(bounce_bytes, remote.bytes - done));
    slot->operation = operation;
    slot->address = remote.address + done;
    slot->length = bytes;
    slot->key = remote.key;
    if (operation == bounce_operation::write) std::memcpy(slot->data, local + done, bytes);
    if (!ask(self, target, *slot)) {
      give_back(target, *slot);
      return access_status::silent;
    }
    const int error = slot->error;
    if (error == 0 && operation == bounce_operation::read) std::memcpy(local + done, slot->data, bytes);
    if (error != 0) {
      give_back(target, *slot);
      return access_status::refused;
    }
    done += bytes;
  }
  give_back(target, *slot);
  return access_status::done;
}

access_status bounce_atomic(process& self, peer& target, bounce_operation operation,
                            const remote_piece& remote, std::uint64_t first, std::uint64_t second,
                            std::uint64_t& old) noexcept {
  bounce_slot* slot = take_slot(self, target);
  if (slot == nullptr) return access_status::silent;
  slot->operation = operation;
  slot->address = remote.address;
  slot->length = 8;
  slot->key = remote.key;
  slot->operand[0] = first;
  slot->operand[1] = second;
  if (!ask(self, target, *slot)) {
    give_back(target, *slot);
    return access_status::silent;
  }
  const int error = slot->error;
  old = slot->result;
  give_back(target, *slot);
  return error == 0 ? access_status::done : access_status::refused;
}

}  // namespace chorale::soft
