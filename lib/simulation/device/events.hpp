// Asynchronous events, and files that can be polled for events of either kind.
#pragma once

#include "objects.hpp"

namespace chorale::simulation::device {

struct queue_pair;

/// A file that is readable while its count is above zero. -1 with errno if there is none to be had.
int make_event_file() noexcept;
void count_up(int file) noexcept;
void count_down(int file) noexcept;
/// True if the program has asked for EAGAIN where it would wait.
bool is_nonblocking(int file) noexcept;

/// Queues an asynchronous event for the program.
void raise(context& c, const ibv_async_event& event);
void raise(queue_pair& about, ibv_event_type type);
void raise(completion_queue& about, ibv_event_type type);
void raise(shared_receive_queue& about, ibv_event_type type);
/// Drops what is queued about an object, and waits until the program has acknowledged what it got. False if
/// it does not for half a minute of virtual time.
bool settle_events(context& c, const void* about, const event_count& asynchronous,
                   const event_count* completions = nullptr);

int get_async_event(ibv_context* c, ibv_async_event* event) noexcept;
void ack_async_event(ibv_async_event* event) noexcept;

}  // namespace chorale::simulation::device
