// SPDX-License-Identifier: Apache-2.0
// Copies between address spaces such that a reader that polls the last word sees all earlier bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "process.hpp"

namespace chorale::soft {

/// A range of bytes of this process.
struct local_piece {
  unsigned char* data;
  std::size_t bytes;
};

/// A range of bytes of a target, inside one of its memory regions. `mapped`: its address in this process, or
/// nullptr.
struct remote_piece {
  std::uint64_t address;
  std::size_t bytes;
  unsigned char* mapped;
  std::uint32_t key;
};

template <class Word>
inline void store_last(unsigned char* to, const unsigned char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  std::atomic_ref<Word>(*reinterpret_cast<Word*>(to)).store(word, std::memory_order_release);
}

/// Size of the final store into [to, to + bytes): the largest aligned word at its end.
inline std::size_t tail_bytes(std::uint64_t to, std::size_t bytes) noexcept {
  const std::uint64_t end = to + bytes;
  if (bytes >= 8 && end % 8 == 0) return 8;
  if (bytes >= 4 && end % 4 == 0) return 4;
  if (bytes >= 2 && end % 2 == 0) return 2;
  return bytes == 0 ? 0 : 1;
}

/// Copies all but the last word, then stores it with release order: memcpy alone may store the end first.
inline void ordered_copy(unsigned char* to, const unsigned char* from, std::size_t bytes) noexcept {
  if (bytes == 8 && reinterpret_cast<std::uintptr_t>(to) % 8 == 0) {
    store_last<std::uint64_t>(to, from);
    return;
  }
  const std::size_t tail = tail_bytes(reinterpret_cast<std::uintptr_t>(to), bytes);
  const std::size_t head = bytes - tail;
  if (head != 0) std::memcpy(to, from, head);
  switch (tail) {
    case 8:
      store_last<std::uint64_t>(to + head, from + head);
      break;
    case 4:
      store_last<std::uint32_t>(to + head, from + head);
      break;
    case 2:
      store_last<std::uint16_t>(to + head, from + head);
      break;
    case 1:
      store_last<std::uint8_t>(to + head, from + head);
      break;
    default:
      break;
  }
}

/// The outcome of a copy or an atomic operation in the memory of a peer.
enum class access_status {
  done,
  silent,   ///< the peer is dead or does not respond
  refused,  ///< the target's memory is not mapped
};

/// Copies `from` to `to`, up to the length of the shorter side, the last word last.
access_status write_remote(process& self, peer& target, std::span<const local_piece> from,
                           std::span<const remote_piece> to) noexcept;
/// Copies `from` to `to`.
access_status read_remote(process& self, peer& target, std::span<const local_piece> to,
                          std::span<const remote_piece> from) noexcept;

enum class atomic_operation { fetch_add, compare_swap };

/// An atomic operation on 8 aligned bytes of the target; returns the old value in `old`. `shared_memory`:
/// every initiator maps the target, so the processor's own atomics suffice.
access_status atomic_remote(process& self, peer& target, const remote_piece& where,
                            atomic_operation operation, std::uint64_t compare_add, std::uint64_t swap,
                            bool shared_memory, std::uint64_t& old) noexcept;

/// The bounce path: the target's service thread copies.
access_status bounce_copy(process& self, peer& target, bounce_operation operation, unsigned char* local,
                          const remote_piece& remote) noexcept;
access_status bounce_atomic(process& self, peer& target, bounce_operation operation,
                            const remote_piece& remote, std::uint64_t first, std::uint64_t second,
                            std::uint64_t& old) noexcept;

/// Withdraws copies into this segment requested by users that have died, and waits for those that its owner's
/// threads have begun. No more copies are made for them. False if such a thread is stopped for longer than
/// `patience_ns`.
bool settle_bounces(segment& base, std::int64_t patience_ns) noexcept;

/// The processor's atomic operation on memory that this process can access.
std::uint64_t atomic_here(unsigned char* where, bounce_operation operation, std::uint64_t first,
                          std::uint64_t second) noexcept;

}  // namespace chorale::soft
