// SPDX-License-Identifier: Apache-2.0
// Completion channels are pipes: pollable, and writable by initiators in other processes.
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "../core/streams_reserved.hpp"
#include "queues.hpp"

namespace chorale::soft {

ibv_comp_channel* create_comp_channel(ibv_context* c) noexcept {
  int ends[2];
  if (detail::above_streams([&] { return pipe2(ends, O_CLOEXEC); }) != 0) return nullptr;
  unique_fd read_end{ends[0]};
  unique_fd write_end{ends[1]};
  // Writing an event must not block on the reader.
  if (fcntl(write_end.get(), F_SETFL, O_NONBLOCK) != 0) return nullptr;
  auto* channel = make_object<completion_channel>(c);
  if (channel == nullptr) return nullptr;
  channel->inode = inode_of(read_end.get());
  channel->fd = read_end.release();
  channel->write_end = std::move(write_end);
  return channel;
}

int destroy_comp_channel(ibv_comp_channel* base) noexcept {
  auto* channel = static_cast<completion_channel*>(base);
  if (channel->queues.load() != 0) return EBUSY;
  close(channel->fd);
  destroy_object(channel);
  return 0;
}

int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) noexcept {
  process& self = process_of(channel->context);
  if (self.abandoned()) {  // the child must not take the parent's events
    errno = EINVAL;
    return -1;
  }
  for (;;) {
    std::uint64_t name = 0;
    const ssize_t got = read(channel->fd, &name, sizeof name);
    if (got != static_cast<ssize_t>(sizeof name)) return -1;
    const std::lock_guard lock(self.objects_mutex());
    self.post_owed_events();
    const auto& all = self.completion_queues();
    const auto found = std::find_if(all.begin(), all.end(), [&](const completion_queue* q) {
      return q->name == name && q->channel == channel;
    });
    if (found == all.end()) continue;  // destroyed meanwhile
    {
      const std::lock_guard events(context::of(channel->context).events_mutex);
      ++(*found)->completions.delivered;
    }
    *cq = *found;
    *cq_context = (*found)->cq_context;
    return 0;
  }
}

void ack_cq_events(ibv_cq* base, unsigned count) noexcept {
  auto& cq = static_cast<completion_queue&>(*base);
  context& c = context::of(cq.context);
  if (c.owner->abandoned()) return;  // fork() may have copied the lock while another thread held it
  const std::lock_guard lock(c.events_mutex);
  cq.completions.acknowledged += count;
  c.acknowledged.notify_all();
}

}  // namespace chorale::soft
