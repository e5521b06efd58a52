// SPDX-License-Identifier: Apache-2.0
// Completion queues and their channels.
#pragma once

#include "objects.hpp"

namespace chorale::simulation::device {

/// Adds a completion to a queue and fires its notification. A full queue overruns: it is unusable from then
/// on, and its queue pairs fail.
void push(completion_queue& queue, const completion& what, bool solicited = false);
/// Removes the completions of a queue pair from a completion queue.
void purge(completion_queue& queue, std::uint32_t queue_pair) noexcept;

ibv_cq* create_cq(ibv_context* c, int entries, void* cq_context, ibv_comp_channel* channel,
                  int vector) noexcept;
int resize_cq(ibv_cq* cq, int entries) noexcept;
int destroy_cq(ibv_cq* cq) noexcept;
int poll_cq(ibv_cq* cq, int count, ibv_wc* wc) noexcept;
int req_notify_cq(ibv_cq* cq, int solicited_only) noexcept;

ibv_comp_channel* create_comp_channel(ibv_context* c) noexcept;
int destroy_comp_channel(ibv_comp_channel* channel) noexcept;
int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) noexcept;
void ack_cq_events(ibv_cq* cq, unsigned count) noexcept;

}  // namespace chorale::simulation::device
