// SPDX-License-Identifier: Apache-2.0
#include "copy.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/uio.h>

namespace chorale::soft {
namespace {

/// Walks two lists of pieces together and calls `f(local, remote, bytes, last)` for each common range.
template <class F>
access_status for_each_stretch(std::span<const local_piece> local, std::span<const remote_piece> remote,
                               F f) {
  std::size_t left_local = 0;
  std::size_t left_remote = 0;
  for (const auto& p : local) left_local += p.bytes;
  for (const auto& p : remote) left_remote += p.bytes;
  std::size_t left = std::min(left_local, left_remote);
  std::size_t i = 0, j = 0, at_local = 0, at_remote = 0;
  while (left != 0) {
    while (at_local == local[i].bytes) ++i, at_local = 0;
    while (at_remote == remote[j].bytes) ++j, at_remote = 0;
    const std::size_t bytes = std::min({left, local[i].bytes - at_local, remote[j].bytes - at_remote});
    left -= bytes;
    remote_piece there = remote[j];
    there.address += at_remote;
    there.bytes = bytes;
    if (there.mapped != nullptr) there.mapped += at_remote;
    const access_status result = f(local[i].data + at_local, there, left == 0);
    if (result != access_status::done) return result;
    at_local += bytes;
    at_remote += bytes;
  }
  return access_status::done;
}

enum class direction { in, out };

/// Copies one range with process_vm_*; sets `must_bounce` if the system forbids that.
access_status vm_copy(peer& target, unsigned char* local, const remote_piece& remote, direction way,
                      bool last) {
  const auto pointer = [](std::uint64_t address) { return reinterpret_cast<void*>(address); };
  const std::size_t tail = way == direction::out && last ? tail_bytes(remote.address, remote.bytes) : 0;
  std::size_t done = 0;
  if (target.has_ended()) return access_status::silent;
  while (done < remote.bytes) {
    const std::size_t left = remote.bytes - done;
    const iovec here{local + done, left};
    const iovec there[2] = {{pointer(remote.address + done), left > tail ? left - tail : left},
                            {pointer(remote.address + remote.bytes - tail), left > tail ? tail : 0}};
    const unsigned long pieces = there[1].iov_len == 0 ? 1 : 2;
    const ssize_t moved = way == direction::out ? process_vm_writev(target.pid, &here, 1, there, pieces, 0)
                                                : process_vm_readv(target.pid, &here, 1, there, pieces, 0);
    if (moved > 0) {
      done += static_cast<std::size_t>(moved);
      continue;
    }
    if (moved < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES)) {
      target.must_bounce.store(true);
      return access_status::silent;
    }
    if (moved < 0 && errno == EINTR) continue;
    // After exec() the memory belongs to another program.
    return (moved < 0 && errno == ESRCH) || target.gone() ? access_status::silent : access_status::refused;
  }
  return access_status::done;
}

bool may_copy_by_vm(const process& self, const peer& target) noexcept {
  return self.copying() != copy_mode::bounce && !target.must_bounce.load(std::memory_order_relaxed);
}

access_status move(process& self, peer& target, unsigned char* local, const remote_piece& remote,
                   direction way, bool last) {
  if (remote.mapped != nullptr) {
    if (way == direction::in)
      std::memcpy(local, remote.mapped, remote.bytes);
    else if (last)
      ordered_copy(remote.mapped, local, remote.bytes);
    else
      std::memcpy(remote.mapped, local, remote.bytes);
    return access_status::done;
  }
  if (may_copy_by_vm(self, target)) {
    const bool has_word =
        way == direction::out && last && tail_bytes(remote.address, remote.bytes) == sizeof(std::uint64_t);
    if (has_word && !self.kernel_copies_words()) {
      remote_piece head = remote;
      head.bytes -= sizeof(std::uint64_t);
      const remote_piece word{remote.address + head.bytes, sizeof(std::uint64_t), nullptr, remote.key};
      const access_status result = vm_copy(target, local, head, way, false);
      if (result == access_status::done)
        return bounce_copy(self, target, bounce_operation::write, local + head.bytes, word);
      if (!target.must_bounce.load(std::memory_order_relaxed)) return result;
    } else {
      const access_status result = vm_copy(target, local, remote, way, last);
      if (!target.must_bounce.load(std::memory_order_relaxed)) return result;
    }
  }
  return bounce_copy(self, target, way == direction::out ? bounce_operation::write : bounce_operation::read,
                     local, remote);
}

/// For the usual case, in which there is one range to write, and nothing but memory to write to.
access_status write_mapped(std::span<const local_piece> from, const remote_piece& to) noexcept {
  unsigned char* at = to.mapped;
  std::size_t left = to.bytes;
  for (const local_piece& piece : from) {
    const std::size_t bytes = std::min(piece.bytes, left);
    left -= bytes;
    if (left == 0) {
      ordered_copy(at, piece.data, bytes);
      break;
    }
    if (bytes != 0) std::memcpy(at, piece.data, bytes);
    at += bytes;
  }
  return access_status::done;
}

}  // namespace

access_status write_remote(process& self, peer& target, std::span<const local_piece> from,
                           std::span<const remote_piece> to) noexcept {
  if (to.size() == 1 && to[0].mapped != nullptr) [[likely]]
    return write_mapped(from, to[0]);
  return for_each_stretch(from, to, [&](unsigned char* local, const remote_piece& remote, bool last) {
    return move(self, target, local, remote, direction::out, last);
  });
}

access_status read_remote(process& self, peer& target, std::span<const local_piece> to,
                          std::span<const remote_piece> from) noexcept {
  return for_each_stretch(to, from, [&](unsigned char* local, const remote_piece& remote, bool last) {
    return move(self, target, local, remote, direction::in, last);
  });
}

std::uint64_t atomic_here(unsigned char* where, bounce_operation operation, std::uint64_t first,
                          std::uint64_t second) noexcept {
  const std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(where));
  if (operation == bounce_operation::fetch_add) return word.fetch_add(first);
  std::uint64_t expected = first;
  word.compare_exchange_strong(expected, second);
  return expected;
}

access_status atomic_remote(process& self, peer& target, const remote_piece& where,
                            atomic_operation operation, std::uint64_t compare_add, std::uint64_t swap,
                            bool shared_memory, std::uint64_t& old) noexcept {
  const auto named =
      operation == atomic_operation::fetch_add ? bounce_operation::fetch_add : bounce_operation::compare_swap;
  if (shared_memory && where.mapped != nullptr) {
    old = atomic_here(where.mapped, named, compare_add, swap);
    return access_status::done;
  }
  // Others may have mapped shared memory, and their operations on it take no turns with this one: if it could
  // not be mapped here, its owner makes the operation.
  if (where.mapped == nullptr &&
      (shared_memory || !(may_copy_by_vm(self, target) && self.kernel_copies_words())))
    return bounce_atomic(self, target, named, where, compare_add, swap, old);
  {
    // Reading and writing are two separate steps here, so all initiators take turns.
    const lock_guard lock(target.base->atomics_lock, self.lock_name());
    if (!lock) return access_status::silent;
    if (where.mapped != nullptr) {
      old = atomic_here(where.mapped, named, compare_add, swap);
      return access_status::done;
    }
    auto* value = reinterpret_cast<unsigned char*>(&old);
    access_status result = vm_copy(target, value, where, direction::in, true);
    if (result == access_status::done) {
      std::uint64_t fresh = operation == atomic_operation::fetch_add ? old + compare_add : swap;
      if (operation == atomic_operation::fetch_add || old == compare_add)
        result = vm_copy(target, reinterpret_cast<unsigned char*>(&fresh), where, direction::out, true);
    }
    if (!target.must_bounce.load(std::memory_order_relaxed)) return result;
  }
  return bounce_atomic(self, target, named, where, compare_add, swap, old);
}

}  // namespace chorale::soft
