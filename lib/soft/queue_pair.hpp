// SPDX-License-Identifier: Apache-2.0
// Queue pairs and the engine that executes their work requests.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "../verbs/request_rules.hpp"
#include "datagram.hpp"
#include "memory.hpp"
#include "objects.hpp"
#include "queues.hpp"

namespace chorale::soft {

/// One per QP. `building` is held from wr_start until wr_complete or wr_abort, as verbs require.
struct request_builder {
  struct entry {
    ibv_send_wr wr;
    std::size_t first_sge;     ///< in `sges`
    std::size_t first_inline;  ///< in `inline_bytes`, if its data was set inline
    bool has_inline;
  };

  spin_lock building;
  std::vector<entry> entries;
  std::vector<ibv_sge> sges;
  std::vector<unsigned char> inline_bytes;
  int failure = 0;  ///< the first failure: wr_complete returns it and posts nothing
};

/// A send work request with everything it needs from the caller's structures.
struct work_request : verbs::request_terms {
  std::uint32_t sge_count;
  const ibv_sge* sges;
  const address_vector* to;
  std::uint64_t number;  ///< number of requests posted on the QP so far, including this one
};

/// A waiting work request, with copies of everything that the caller may reuse after posting.
struct stalled_request {
  work_request wr;
  std::vector<ibv_sge> sges;
  std::vector<unsigned char> inline_data;
  address_vector to;

  bool executed = false;  ///< executed; its completion waits
  ibv_wc_status status = IBV_WC_SUCCESS;
  std::uint32_t byte_len = 0;

  // For the deferred engine, in its ticks.
  std::uint64_t due = 0;
  std::uint64_t completes = 0;
  bool may_be_overtaken = false;
  bool watched = false;  ///< `fingerprint` is that of the send buffer at posting
  std::uint64_t fingerprint = 0;
};

/// Bytes of an RDMA write that has completed at its initiator, but is still on its way into the target's
/// memory.
struct late_bytes {
  std::uint64_t address;
  std::uint32_t key;
  std::vector<unsigned char> data;
  std::uint64_t due;  ///< in ticks of the deferred engine
};

/// The result of an attempt to execute a work request.
struct outcome {
  enum kind_type { done, silent, not_ready, failed } kind = done;
  ibv_wc_status status = IBV_WC_SUCCESS;
  std::uint32_t byte_len = 0;
  std::uint32_t rnr_timer = 0;  ///< not_ready: the responder's min_rnr_timer

  static outcome failure(ibv_wc_status why) noexcept { return {failed, why, 0, 0}; }
  static outcome silence() noexcept { return {silent, IBV_WC_SUCCESS, 0, 0}; }
};

struct queue_pair : extendable<ibv_qp, ibv_qp_ex> {
  process* owner = nullptr;
  qp_record* record = nullptr;
  std::uint32_t index = 0;
  std::uint64_t ordinal = 0;  ///< in its process, counted from the first QP
  ibv_qp_cap cap{};
  bool signal_all = false;
  receive_queue receives;
  completion_queue* send_completions = nullptr;
  completion_queue* receive_completions = nullptr;
  shared_receive_queue* shared_receives = nullptr;
  std::uint32_t pd_id = 0;

  // Guarded by record->send_lock.
  std::uint64_t posted = 0;
  std::uint64_t lines_end = 0;  ///< end of the last message whose lines were moved, at the target
  std::deque<stalled_request> stalled;
  std::vector<late_bytes> late;
  region_cache regions;
  bool connected_here = false;  ///< its address vector leads to this fabric
  peer* target = nullptr;
  std::int64_t silent_since = 0;
  std::int64_t not_ready_since = 0;
  std::int64_t next_attempt = 0;  ///< earliest retry, while the target is silent
  std::atomic<std::uint32_t> stalled_count{0};
  alignas(cache_line_spacing) std::atomic<std::uint64_t> retired{0};

  std::mutex attributes_mutex;
  ibv_qp_attr attributes{};
  event_count asynchronous;
  std::atomic<bool> last_receive_raised{false};
  std::unique_ptr<request_builder> builder;  ///< for a QP whose work requests are posted through ibv_qp_ex
  std::vector<std::uint32_t> groups;         ///< its multicast entries; guarded by attributes_mutex

  [[nodiscard]] ibv_qp_state state_now() const noexcept {
    return static_cast<ibv_qp_state>(record->state.load(std::memory_order_acquire));
  }
};

/// Executes a request on a connected target (RC, UC). The caller holds the QP's send lock.
outcome execute_connected(queue_pair& qp, const work_request& wr) noexcept;
/// Fast path for the most common request: a short inline RDMA write without completion. Executes it if
/// nothing prevents that. False, with no effect, in all other cases: then use `execute_now`.
bool write_at_once(queue_pair& qp, const ibv_send_wr& wr) noexcept;
/// True for an RDMA write that will succeed. A request that fails must not overtake others: the target
/// executes requests in order, so earlier ones would have been answered.
bool is_harmless(queue_pair& qp, const work_request& wr) noexcept;
/// The target's region with `key` if it permits all of these rights for that range; nullptr if not, or if
/// there is no target. Valid while the caller holds the QP's send lock.
const region_view* open_region(queue_pair& qp, std::uint32_t key, std::uint64_t address, std::uint64_t bytes,
                               std::uint32_t access) noexcept;
/// Executes a datagram send. Never waits: undeliverable datagrams are lost.
outcome execute_ud(queue_pair& qp, const work_request& wr) noexcept;

/// The local pieces of a request's gather list; false if a local key does not permit access.
inline bool gather(queue_pair& qp, const work_request& wr, std::uint32_t access,
                   std::array<local_piece, max_sge>& pieces) noexcept {
  const bool copied = (wr.flags & IBV_SEND_INLINE) != 0;
  for (std::uint32_t i = 0; i < wr.sge_count; ++i) {
    const ibv_sge& s = wr.sges[i];
    if (!copied && !local_range(qp.owner->regions(), s, qp.pd_id, access)) return false;
    pieces[i] = {reinterpret_cast<unsigned char*>(s.addr), s.length};
  }
  return true;
}

/// Moves a QP to RESET or ERR, waits until no peer accesses it any more, and discards or flushes its queues.
/// 0, or EBUSY if a stopped peer does not finish.
int leave_service(queue_pair& qp, ibv_qp_state to) noexcept;
/// Raises an asynchronous event about a QP.
void raise(queue_pair& qp, ibv_event_type type) noexcept;

/// Pushes a request's completion, if it has one.
void complete(queue_pair& qp, const work_request& wr, ibv_wc_status status, std::uint32_t byte_len) noexcept;
/// Executes and completes a request. False if it has to wait. The caller holds the send lock, as for the next
/// three functions.
bool execute_now(queue_pair& qp, const work_request& wr) noexcept;
/// Queues a request for later. False if out of memory.
bool stall(queue_pair& qp, const work_request& wr) noexcept;
/// Executes and completes requests that are due, or `all` that do not wait for the target.
void run_send_queue(queue_pair& qp, bool all = false) noexcept;
/// Retries stalled requests, unless another thread is doing so. True if none is left.
bool advance(queue_pair& qp) noexcept;
/// The seed decides how long a request is held; data that the program must not read meanwhile are poisoned.
void defer(queue_pair& qp, stalled_request& r) noexcept;
/// Poisons a message whose buffer the program has changed since posting.
void spoil_if_changed(queue_pair& qp, stalled_request& r) noexcept;
/// Poisons a receive, which belongs to the device from its posting to its completion.
void poison_receive(process& self, const ibv_sge& buffer, std::uint32_t pd) noexcept;
/// An RDMA write as hardware may execute it: cache line by cache line, in any order that the target permits.
access_status place_in_lines(queue_pair& qp, const work_request& wr, std::span<const local_piece> from,
                             const remote_piece& to) noexcept;
/// Places the late bytes that are due, or `all`.
void place_late(queue_pair& qp, bool all) noexcept;
inline bool has_stalled(const queue_pair& qp) noexcept {
  return qp.stalled_count.load() != 0;
}
/// Moves a QP to ERR (UC and UD after a local error: SQE) and flushes the queues as that state requires.
void fail_local(queue_pair& qp) noexcept;
/// Completes everything that waits on a QP in ERR with WR_FLUSH_ERR. The caller holds the send lock.
void flush_sends(queue_pair& qp) noexcept;
void flush_receives(queue_pair& qp) noexcept;
/// Completes the handling of an invalid request of a peer: flush, event.
void take_responder_error(queue_pair& qp) noexcept;
/// Fails the QP because its completion queue has overrun.
void take_completion_error(queue_pair& qp) noexcept;
/// Moves a peer's QP to ERR because of an invalid request, and makes its owner raise `event`.
void fail_responder(peer& target, qp_record& record, ibv_event_type event) noexcept;

int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) noexcept;
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept;

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) noexcept;
int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) noexcept;
int query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask, ibv_qp_init_attr* init) noexcept;
void* map_remote(ibv_qp* qp, std::uint64_t address, std::uint32_t rkey, std::size_t bytes) noexcept;
int unmap_remote(void* address, std::size_t bytes) noexcept;
int query_qp_data_in_order(ibv_qp* qp, ibv_wr_opcode opcode, std::uint32_t flags) noexcept;
int destroy_qp(ibv_qp* qp) noexcept;

address_vector resolve(process& self, const ibv_ah_attr& attributes) noexcept;
/// Whether packets that a QP sends by that path reach a QP of the peer, where ports decide.
bool reaches(queue_pair& qp, const address_vector& path, const peer& target, std::uint32_t qpn) noexcept;
/// Connects the QP as its attributes say, unless the port is down. The caller holds the send lock.
void attach(queue_pair& qp) noexcept;
ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attributes) noexcept;
int destroy_ah(ibv_ah* ah) noexcept;
int attach_mcast(ibv_qp* qp, const union ibv_gid* gid, std::uint16_t lid) noexcept;
int detach_mcast(ibv_qp* qp, const union ibv_gid* gid, std::uint16_t lid) noexcept;

}  // namespace chorale::soft
