// SPDX-License-Identifier: Apache-2.0
#include "completions.hpp"

#include <algorithm>
#include <unistd.h>

#include "events.hpp"
#include "fabric.hpp"
#include "queue_pair.hpp"
#include "queue_pair_faults.hpp"

namespace chorale::simulation::device {
namespace {

/// A polling loop that yields makes at most this many unsuccessful polls at one instant.
constexpr int looks_at_once = 8;

/// Once the program has polled a completion, the queue entries that it kept are free.
void set_free(hca& nic, const completion& c) noexcept {
  queue_pair* const qp = nic.queue_pairs.find(c.report.qp_num);
  if (qp == nullptr) return;
  if (c.sends != 0)
    qp->sends.retired = c.sends;
  else if (qp->srq == nullptr && qp->receives.unpolled != 0)
    --qp->receives.unpolled;
}

/// Gives way for a program that polls without doing so: otherwise virtual time would stand still.
void look_in_vain(context& c) {
  scheduler& time = c.nic->owner().time();
  if (time.now() != c.last_look) c.empty_looks = 0;
  if (++c.empty_looks > looks_at_once) time.give_way();
  c.last_look = time.now();
}

bool is_size(ibv_context* c, int entries) noexcept {
  return entries >= 1 && static_cast<std::uint32_t>(entries) <= context::of(c).profile->completions;
}

}  // namespace

void push(completion_queue& queue, const completion& what, bool solicited) {
  if (queue.overrun) return;
  hca& nic = hca_of(queue.context);
  scheduler& time = nic.owner().time();
  if (queue.entries.size() >= static_cast<std::size_t>(queue.cqe)) {
    queue.overrun = true;
    // Not here: its queue pairs may be in the midst of the operation that caused this completion.
    time.after(duration::zero(), [&nic, number = queue.number] { fail_overrun(nic, number); });
    return;
  }
  queue.entries.push_back(what);
  nic.owner().touch(context::of(queue.context).rank);
  if (queue.armed == notification::none) return;
  if (queue.armed == notification::solicited && !solicited && what.report.status == IBV_WC_SUCCESS) return;
  queue.armed = notification::none;
  if (queue.channel == nullptr) return;
  auto& channel = static_cast<completion_channel&>(*queue.channel);
  channel.events.push_back(queue.number);
  count_up(channel.fd);
  time.notify(channel.waiting);
  time.signal(context::of(queue.context).rank);
}

void purge(completion_queue& queue, std::uint32_t queue_pair) noexcept {
  queue.entries.erase_if([&](const completion& c) { return c.report.qp_num == queue_pair; });
}

ibv_cq* create_cq(ibv_context* c, int entries, void* cq_context, ibv_comp_channel* channel,
                  int vector) noexcept {
  if (!is_size(c, entries) || vector < 0 || vector >= c->num_comp_vectors) {
    errno = EINVAL;
    return nullptr;
  }
  return unless_short([&]() -> ibv_cq* {
    auto* const queue = make_object<completion_queue>(c);
    queue->number = hca_of(c).completion_queues.add(*queue);
    queue->handle = queue->number;
    queue->cqe = entries;
    queue->cq_context = cq_context;
    queue->channel = channel;
    if (channel != nullptr) ++static_cast<completion_channel*>(channel)->queues;
    return queue;
  });
}

int resize_cq(ibv_cq* base, int entries) noexcept {
  auto& queue = static_cast<completion_queue&>(*base);
  if (!is_size(queue.context, entries) || queue.entries.size() > static_cast<std::size_t>(entries))
    return EINVAL;
  queue.cqe = entries;
  return 0;
}

int destroy_cq(ibv_cq* base) noexcept {
  auto* const queue = static_cast<completion_queue*>(base);
  if (queue->users != 0) return EBUSY;
  context& c = context::of(queue->context);
  if (queue->channel != nullptr) {
    auto& channel = static_cast<completion_channel&>(*queue->channel);
    const std::size_t before = channel.events.size();
    channel.events.erase_if([&](std::uint32_t number) { return number == queue->number; });
    for (std::size_t i = channel.events.size(); i < before; ++i) count_down(channel.fd);
  }
  if (!settle_events(c, queue, queue->asynchronous, &queue->completions)) return EBUSY;
  if (queue->channel != nullptr) --static_cast<completion_channel*>(queue->channel)->queues;
  c.nic->completion_queues.remove(queue->number);
  destroy_object(queue);
  return 0;
}

int poll_cq(ibv_cq* base, int count, ibv_wc* wc) noexcept {
  auto& queue = static_cast<completion_queue&>(*base);
  context& c = context::of(queue.context);
  fabric& all = c.nic->owner();
  all.time().settle(fabric::least_turn);
  int found = 0;
  for (; found < count && !queue.entries.empty(); ++found) {
    const completion taken = queue.entries.pop_front();
    wc[found] = taken.report;
    set_free(*c.nic, taken);
  }
  if (found != 0)
    all.time().charge(all.costs().poll(static_cast<std::size_t>(found)),
                      {.what = activity::poll, .bytes = static_cast<std::uint64_t>(found)});
  else if (count > 0 && queue.overrun)
    return -1;
  else if (count > 0)
    look_in_vain(c);
  return found;
}

int req_notify_cq(ibv_cq* base, int solicited_only) noexcept {
  auto& queue = static_cast<completion_queue&>(*base);
  hca_of(queue.context).owner().time().settle();
  queue.armed = std::max(queue.armed, solicited_only != 0 ? notification::solicited : notification::any);
  return 0;
}

ibv_comp_channel* create_comp_channel(ibv_context* c) noexcept {
  return unless_short([&]() -> ibv_comp_channel* {
    auto* const channel = make_object<completion_channel>(c);
    channel->fd = make_event_file();
    if (channel->fd >= 0) return channel;
    const int why = errno;
    destroy_object(channel);
    errno = why;
    return nullptr;
  });
}

int destroy_comp_channel(ibv_comp_channel* base) noexcept {
  auto* const channel = static_cast<completion_channel*>(base);
  if (channel->queues != 0) return EBUSY;
  close(channel->fd);
  destroy_object(channel);
  return 0;
}

int get_cq_event(ibv_comp_channel* base, ibv_cq** cq, void** cq_context) noexcept {
  auto& channel = static_cast<completion_channel&>(*base);
  hca& nic = hca_of(channel.context);
  scheduler& time = nic.owner().time();
  try {
    time.settle();
    while (channel.events.empty()) {
      if (is_nonblocking(channel.fd)) {
        errno = EAGAIN;
        return -1;
      }
      time.wait(channel.waiting, "an event of a completion channel of sim0");
    }
  } catch (...) {  // the thread would wait for ever
    errno = EDEADLK;
    return -1;
  }
  completion_queue* const queue = nic.completion_queues.find(channel.events.pop_front());
  count_down(channel.fd);
  ++queue->completions.delivered;
  *cq = queue;
  *cq_context = queue->cq_context;
  time.charge(nic.owner().costs().costs().wake, activity::wake);
  return 0;
}

void ack_cq_events(ibv_cq* cq, unsigned count) noexcept {
  static_cast<completion_queue*>(cq)->completions.acknowledged += count;
}

}  // namespace chorale::simulation::device
