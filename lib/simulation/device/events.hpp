// SPDX-License-Identifier: Apache-2.0
// Asynchronous events, and files that can be polled for them and for completion events.
#pragma once

#include "objects.hpp"

namespace chorale::simulation::device {

struct queue_pair;

/// A file that is readable while its count is above zero. -1 with errno if none is available.
int make_event_file() noexcept;
void count_up(int file) noexcept;
void count_down(int file) noexcept;
/// True if the program has set O_NONBLOCK, and so expects EAGAIN instead of a wait.
bool is_nonblocking(int file) noexcept;

/// Queues an asynchronous event for the program.
void raise(context& c, const ibv_async_event& event);
void raise(queue_pair& about, ibv_event_type type);
void raise(completion_queue& about, ibv_event_type type);
void raise(shared_receive_queue& about, ibv_event_type type);
/// Drops the queued events about an object, and waits until the program has acknowledged those it got. False
/// if it has not after half a minute of virtual time.
bool settle_events(context& c, const void* about, const event_count& asynchronous,
                   const event_count* completions = nullptr);

int get_async_event(ibv_context* c, ibv_async_event* event) noexcept;
void ack_async_event(ibv_async_event* event) noexcept;

}  // namespace chorale::simulation::device
