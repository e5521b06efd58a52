// SPDX-License-Identifier: Apache-2.0
// The memory layout that the processes of a fabric share. It uses offsets, never pointers; readers of another
// process's segment validate all data.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <chorale/core/cache_lines.hpp>
#include <chorale/core/sendable.hpp>

#include "../verbs/profile_rules.hpp"
#include "orders.hpp"
#include "shared_lock.hpp"

namespace chorale::soft {

template <class T>
using shared = std::atomic<T>;

/// A checksum of the text of this header and of the headers that it includes, so that it changes with them:
/// processes of different versions share no fabric.
extern const std::uint32_t layout_version;
inline constexpr std::uint64_t registry_magic = 0x31676572'6f6c6863;
inline constexpr std::uint64_t segment_magic = 0x31676573'6f6c6863;

inline constexpr std::uint32_t slot_count = 1023;  ///< slot 1023 would give 0xffffff, the multicast QP number
inline constexpr std::uint32_t qp_index_bits = 14;
inline constexpr std::uint32_t qp_count = 1U << qp_index_bits;
inline constexpr std::uint32_t mr_count = 1U << 16;
inline constexpr std::uint32_t max_sge = 16;
inline constexpr std::uint32_t max_work_requests = 16384;
inline constexpr std::uint32_t max_inline_bytes = 16384;
inline constexpr std::uint32_t max_cqe = 1U << 20;
inline constexpr std::uint32_t mtu_bytes = 4096;
inline constexpr std::uint32_t grh_bytes = 40;
inline constexpr std::uint64_t max_message_bytes = 1ULL << 31;
inline constexpr std::uint32_t multicast_entries = 8192;
inline constexpr std::uint32_t bounce_slots = 8;
inline constexpr std::uint32_t bounce_bytes = 64 * 1024;
inline constexpr std::uint64_t segment_bytes = 1ULL << 30;

/// A process of the fabric. `pid` 0: free. Modified only under the start-up lock.
struct alignas(64) member {
  shared<std::int32_t> pid;
  shared<std::uint32_t> generation;  ///< increases with each owner of the slot
  shared<std::uint64_t> start_time;  ///< of the process, to detect a reused pid
  shared<std::int32_t> segment_fd;
  shared<std::uint64_t> segment_inode;
};

/// Membership of one QP in one multicast group. `qpn` 0: free.
///
/// Writer: the process that attaches a QP, under `multicast_lock`: an odd `version`, the rest, an even
/// `version`.
/// Reader: a sender: `version`, the rest, `version` again; the data are valid if both are the same and even.
/// Pairs: the even `version`, release and acquire; the fences after the odd one and before the second read.
struct multicast_entry {
  shared<std::uint64_t> gid[2];
  shared<std::uint32_t> lid;
  shared<std::uint32_t> generation;  ///< of the member that made it: the entry ends with its process
  shared<std::uint32_t> qpn;
  shared<std::uint32_t> version;  ///< changes with each membership, even of the same QP
};

struct registry {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t lid;
  std::uint64_t fabric_hash;
  std::uint64_t guid;
  alignas(64) member members[slot_count];
  alignas(cache_line_spacing) shared_lock multicast_lock;
  shared<std::uint32_t> multicast_high;  ///< entries from here on have never been used
  alignas(64) multicast_entry multicast[multicast_entries];
};

/// Set in mr_record::access by a peer that maps the region for its own use: the peer then shares the pages,
/// which stay when the owner frees them.
inline constexpr std::uint32_t mapped_by_peer = 1U << 31;

/// A memory region. Readers read `generation` first and last; odd means valid.
///
/// Writer: its owner: the rest, then an odd `generation`. To end it: an even one, then `process::quiesce`.
/// Reader: a peer, holding its send lock: `generation`, the rest, `generation` again; then it copies.
/// Pairs: the odd `generation`, release and acquire; its end: see `orders::behind_lock`.
struct alignas(64) mr_record {
  shared<std::uint32_t> generation;
  shared<std::uint32_t> lkey;
  shared<std::uint32_t> rkey;
  shared<std::uint32_t> access;
  shared<std::uint32_t> pd;
  shared<std::int32_t> memory_fd;  ///< -1: not in mappable memory
  shared<std::uint64_t> address;
  shared<std::uint64_t> length;
  shared<std::uint64_t> memory_inode;
  shared<std::uint64_t> memory_bytes;  ///< size of the whole allocation
  shared<std::uint64_t> memory_offset;
};
static_assert(sizeof(mr_record) == 64);

struct shared_sge {
  std::uint64_t address;
  std::uint32_t length;
  std::uint32_t lkey;
};

/// A posted receive: this header, followed by `max_sge` entries of type `shared_sge`.
struct receive_entry {
  std::uint64_t wr_id;
  std::uint32_t sge_count;
  std::uint32_t reserved;
};

/// Receives of one QP or of a shared receive queue; initiators in any process take them under `lock`.
///
/// Writer: the owner: the entry, then `tail`. To fail: the state of its QP; see `orders::after_posting`.
/// Reader: an initiator, under `lock`: `tail`, the entry, then `head`.
/// Pairs: `tail` release and acquire; before an entry is written again, `head` release and acquire.
struct alignas(cache_line_spacing) receive_queue_record {
  shared_lock lock;
  shared<std::uint64_t> ring;  ///< offset of the entries
  shared<std::uint32_t> mask;  ///< entries - 1
  shared<std::uint32_t> sge_limit;
  shared<std::uint32_t> pd;
  shared<std::uint32_t> limit;          ///< SRQ: raise the event below this number; 0: not armed
  shared<std::uint32_t> limit_reached;  ///< SRQ: the owner must raise the event
  shared<std::uint64_t> tail_seen;      ///< the takers' copy of `tail`
  alignas(cache_line_spacing) shared<std::uint64_t> head;  ///< next to take
  alignas(cache_line_spacing) shared<std::uint64_t> tail;  ///< next to post; written only by the owner
};

/// A completion as returned by poll_cq.
struct completion {
  std::uint64_t wr_id;
  std::uint32_t status;
  std::uint32_t opcode;
  std::uint32_t byte_len;
  std::uint32_t imm;
  std::uint32_t qp_num;
  std::uint32_t src_qp;
  std::uint32_t wc_flags;
  std::uint8_t voided;         ///< its QP no longer exists: skip it
  std::uint8_t service_level;  ///< service level of a datagram
  std::uint16_t slid;
  std::uint64_t send_count;  ///< number of send work requests that this completion retires; 0: a receive
  std::uint64_t timestamp;   ///< now_ns() of the completion, if the queue records timestamps
};
static_assert(detail::sendable<completion> && detail::sendable<receive_entry> &&
              detail::sendable<shared_sge>);

/// An entry of a completion queue.
///
/// Writer: an initiator, under the queue's `lock`: the rest, then `sequence`.
/// Reader: the owner: `sequence`, the rest, then `consumer`.
/// Pairs: `sequence` release and acquire; before an entry is written again, `consumer` release and acquire.
struct alignas(64) completion_entry {
  completion body;
  shared<std::uint64_t> sequence;  ///< position in the queue + 1; stored last
};
static_assert(sizeof(completion_entry) == 64);

enum class notify : std::uint32_t { none, solicited, any };

struct alignas(cache_line_spacing) completion_queue_record {
  shared_lock lock;  ///< held by producers, and by whoever modifies this record
  shared<std::uint64_t> ring;
  shared<std::uint64_t> producer;
  shared<std::uint64_t> consumer_seen;  ///< the producers' copy of `consumer`
  shared<std::uint32_t> mask;
  shared<notify> armed;
  shared<std::uint32_t> timestamps;  ///< 1: producers record timestamps
  shared<std::int32_t> channel_fd;   ///< descriptor to write to for an armed completion; -1: no channel
  shared<std::uint64_t> channel_inode;
  shared<std::uint64_t> name;  ///< value to write
  alignas(cache_line_spacing) shared<std::uint64_t> consumer;
  /// In a separate line from what producers write: polling an empty queue reads it each time.
  alignas(cache_line_spacing) shared<std::uint32_t> overrun;
  shared<std::uint32_t> owed;  ///< 1: a producer could not write an event, so the owner must
};

/// A QP as its peers see it.
///
/// Writer: its owner: the rest, then `state`. To leave service: `state`, then `process::quiesce`.
/// Reader: a peer, holding its send lock (for datagrams the lock of the receive queue): `state`, the rest.
/// Pairs: `state` release and acquire; its end: see `orders::behind_lock`.
struct alignas(cache_line_spacing) qp_record {
  shared<std::uint32_t> state;  ///< ibv_qp_state, stored last; RESET (0) also if there is no QP
  shared<std::uint32_t> type;
  shared<std::uint32_t> destination;  ///< number of the QP it is connected to
  shared<std::uint32_t> access;
  shared<std::uint32_t> pd;
  shared<std::uint32_t> qkey;
  shared<std::uint32_t> read_depth;  ///< max_dest_rd_atomic
  shared<std::uint32_t> rnr_timer;
  shared<std::uint64_t> receive_queue;
  shared<std::uint64_t> receive_cq;
  shared<std::uint32_t> shared_receive_queue;  ///< 1: `receive_queue` belongs to an SRQ
  shared<std::uint32_t> path_mtu;
  shared<std::uint32_t>
      responder_error;  ///< ibv_event_type + 1 that a peer's request caused; the owner takes it
  shared<std::uint32_t> pkey;
  /// Held by the owner while it executes work requests: once it is released, no earlier copy is in progress.
  alignas(cache_line_spacing) shared_lock send_lock;
};
static_assert(sizeof(qp_record) == 2 * cache_line_spacing);

enum class bounce_state : std::uint32_t { idle, request, busy, done };
/// State of a slot, and the acquisition of its lock (`shared_lock::hold`) that it belongs to. This
/// distinguishes the request of a dead user from the next one, and associates the end of a copy with the
/// right request.
struct alignas(8) bounce_phase {
  std::uint32_t hold;
  bounce_state state;
  friend bool operator==(const bounce_phase&, const bounce_phase&) = default;
};
static_assert(std::atomic<bounce_phase>::is_always_lock_free);
enum class bounce_operation : std::uint32_t { write, read, fetch_add, compare_swap };

/// A copy that the owner of the segment makes in its own address space for a peer that cannot access it.
///
/// Writer: the peer that holds `lock`: the request, then `phase` request; the owner: the result, then `done`.
/// Reader: the owner, once it has made it `busy`; the peer, once it is `done`. An abandoned request is
///   withdrawn by the same step from `request`, which only one of the two can take.
/// Pairs: `phase` release and acquire, each way; for memory that the owner may still write:
/// `orders::behind_lock`.
struct alignas(cache_line_spacing) bounce_slot {
  shared_lock lock;  ///< held by the peer that uses the slot
  shared<bounce_phase> phase;
  bounce_operation operation;
  std::uint64_t address;
  std::uint32_t length;
  std::uint32_t key;
  std::uint64_t operand[2];
  std::uint64_t result;
  std::int32_t error;
  alignas(64) unsigned char data[bounce_bytes];
};

struct segment {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t slot;
  std::uint32_t generation;
  std::int32_t wake_fd;  ///< pipe that wakes the service thread when a byte is written
  std::uint64_t wake_inode;
  std::uint64_t address;  ///< address of this segment in its owner
  std::uint64_t life_inode;
  verbs::port_identity port;
  shared<std::uint32_t> port_down;  ///< 1: no traffic in either direction
  std::int32_t life_fd;             ///< read end of a pipe that hangs up when the owner ends or calls exec()
  /// A peer has left work for the owner.
  ///
  /// Writer: a peer: the work (`responder_error`, `overrun`, `owed`, `limit_reached`), then 1.
  /// Reader: the owner: 0, then all of the work.
  /// Pair: the full orders of both (`orders::calling_attention`): the owner sees the work of each 1 that its
  /// 0 overwrites.
  shared<std::uint32_t> attention;
  shared<std::uint32_t> placed;          ///< the `placement` of writes into this process
  shared<std::uint32_t> lines_in_order;  ///< 1: 128 aligned bytes of one write become visible by address
  shared<std::uint64_t> qkey_violations;
  shared<std::uint64_t> dropped_datagrams;
  shared<std::uint64_t> context_hits;
  shared<std::uint64_t> context_misses;
  alignas(cache_line_spacing) shared_lock atomics_lock;
  alignas(64) qp_record qps[qp_count];
  alignas(64) mr_record mrs[mr_count];
  alignas(64) bounce_slot bounce[bounce_slots];
  shared<std::uint32_t> contexts[65536];  ///< see context_cache.hpp
  alignas(4096) unsigned char arena[1];
};
inline constexpr std::uint64_t arena_begin = offsetof(segment, arena);
static_assert(arena_begin < segment_bytes / 8);

/// The record at an offset written by another process; nullptr if it cannot lie in the arena.
template <class T>
T* at(segment& base, std::uint64_t offset, std::uint64_t count = 1) noexcept {
  if (offset < arena_begin || offset % alignof(T) != 0 || offset > segment_bytes) return nullptr;
  if (count > (segment_bytes - offset) / sizeof(T)) return nullptr;
  return reinterpret_cast<T*>(reinterpret_cast<unsigned char*>(&base) + offset);
}

inline constexpr std::uint32_t qp_number(std::uint32_t slot, std::uint32_t index) noexcept {
  return (slot << qp_index_bits) | index;
}
inline constexpr std::uint32_t slot_of(std::uint32_t qpn) noexcept {
  return (qpn >> qp_index_bits) & 1023U;
}
inline constexpr std::uint32_t index_of(std::uint32_t qpn) noexcept {
  return qpn & (qp_count - 1);
}

}  // namespace chorale::soft
