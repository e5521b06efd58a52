// SPDX-License-Identifier: Apache-2.0
// Completion queues and receive queues, which initiators in any process fill and drain.
#pragma once

#include <span>

#include "objects.hpp"

namespace chorale::soft {

/// Pushes `what` (except `sequence`) to a completion queue of `target`, and fires its notification. False if
/// the queue has overrun, does not exist, or stays locked.
bool push_completion(process& self, peer& target, std::uint64_t queue, const completion& what,
                     bool solicited) noexcept;
inline bool push_completion(process& self, completion_queue& queue, const completion& what,
                            bool solicited = false) noexcept;

struct taken_receive {
  std::uint64_t wr_id;
  std::uint32_t count;
  std::uint32_t pd;  ///< protection domain its keys belong to
  shared_sge sges[max_sge];

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < count; ++i) sum += sges[i].length;
    return sum;
  }
};

/// Reads the oldest receive of a queue, whose lock the caller holds. False if there is none.
bool peek_receive(segment& base, receive_queue_record& queue, taken_receive& taken) noexcept;
/// Removes it. True if an SRQ falls below its limit, which is also recorded for its owner.
bool drop_receive(receive_queue_record& queue) noexcept;

int open_receive_queue(process& self, receive_queue& queue, std::uint32_t max_wr, std::uint32_t max_sge,
                       std::uint32_t pd) noexcept;
void close_receive_queue(process& self, receive_queue& queue) noexcept;
int post_receives(process& self, receive_queue& queue, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept;

/// Voids the completions of a destroyed QP in a completion queue.
void purge_completions(process& self, completion_queue& queue, std::uint32_t qpn) noexcept;

ibv_cq* create_cq(ibv_context* c, int entries, void* cq_context, ibv_comp_channel* channel,
                  int vector) noexcept;
int resize_cq(ibv_cq* cq, int entries) noexcept;
int destroy_cq(ibv_cq* cq) noexcept;
int poll_cq(ibv_cq* cq, int count, ibv_wc* wc) noexcept;
/// The same; stores the time of the last completion in `timestamp` unless that is nullptr.
int poll(completion_queue& cq, int count, ibv_wc* wc, std::uint64_t* timestamp) noexcept;
int req_notify_cq(ibv_cq* cq, int solicited_only) noexcept;

ibv_comp_channel* create_comp_channel(ibv_context* c) noexcept;
int destroy_comp_channel(ibv_comp_channel* channel) noexcept;
int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) noexcept;
void ack_cq_events(ibv_cq* cq, unsigned count) noexcept;

ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) noexcept;
int modify_srq(ibv_srq* srq, ibv_srq_attr* attributes, int mask) noexcept;
int query_srq(ibv_srq* srq, ibv_srq_attr* attributes) noexcept;
int destroy_srq(ibv_srq* srq) noexcept;
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept;

bool push_completion(process& self, completion_queue& queue, const completion& what,
                     bool solicited) noexcept {
  return push_completion(self, self.self(), self.memory().offset_of(queue.record), what, solicited);
}

}  // namespace chorale::soft
