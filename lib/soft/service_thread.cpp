// SPDX-License-Identifier: Apache-2.0
// The thread that serves peers which cannot access this process's memory, watches them, and advances stalled
// work while the program blocks.
#include <algorithm>
#include <cerrno>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "process.hpp"
#include "queue_pair.hpp"

namespace chorale::soft {
namespace {

constexpr int longest_nap_ms = 8;
constexpr int death_check_ms = 50;  // if the kernel has no pidfd

}  // namespace

void process::serve() noexcept {
  pthread_setname_np(pthread_self(), "chorale-soft");
  int nap_ms = 1;
  while (!stopping_.load(std::memory_order_relaxed)) {
    bool unwatched = false;
    bool unwoken = false;
    {
      const std::lock_guard lock(peers_mutex_);
      for (const auto& p : all_peers_) {
        unwatched = unwatched || p->unwatched();
        unwoken = unwoken || p->owes_wake();
      }
    }
    const bool chores = has_chores();
    nap_ms = chores ? std::min(nap_ms * 2, longest_nap_ms) : 1;
    if (motor_.deferred()) nap_ms = 1;
    const std::uint64_t clock = motor_.now();
    epoll_event events[16];
    int patience_ms = chores ? nap_ms : unwoken ? longest_nap_ms : unwatched ? death_check_ms : -1;
    if (const int event_ms = until_event(); event_ms >= 0 && (patience_ms < 0 || event_ms < patience_ms))
      patience_ms = event_ms;
    const int count = epoll_wait(epoll_.get(), events, 16, patience_ms);
    for (int i = 0; i < count; ++i) {
      if (auto* gone = static_cast<peer*>(events[i].data.ptr)) {
        const std::lock_guard lock(peers_mutex_);
        lose(*gone);
        continue;
      }
      char drained[256];
      while (read(wake_read_.get(), drained, sizeof drained) > 0) {
      }
      nap_ms = 1;
    }
    let_events_happen();
    if (unwatched) check_unwatched();
    if (unwoken) repeat_wakes();
    serve_bounces();
    if (count == 0 && motor_.now() == clock) motor_.jump();  // the program is idle
    progress();
  }
}

void process::watch(peer& p) noexcept {
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.ptr = &p;
  if (p.pidfd.get() >= 0 && epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, p.pidfd.get(), &interest) != 0)
    p.pidfd.reset();
  interest.events = 0;  // only hang-up is of interest
  if (p.life.get() >= 0 && epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, p.life.get(), &interest) != 0)
    p.life.reset();
  if (p.unwatched()) wake_service();
}

void process::lose(peer& p) noexcept {
  for (const int fd : {p.pidfd.get(), p.life.get()})
    if (fd >= 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  if (p.dead.exchange(true)) return;
  p.bury();
}

void process::check_unwatched() noexcept {
  const std::lock_guard lock(peers_mutex_);
  for (auto& p : all_peers_) {
    const member& entry = fabric().members[p->slot];
    if (p->unwatched() && (entry.generation.load() != p->generation || !is_alive(entry))) lose(*p);
  }
}

void process::repeat_wakes() noexcept {
  const std::lock_guard lock(peers_mutex_);
  for (auto& p : all_peers_)
    if (p->owes_wake()) p->wake();
}

void process::post_owed_events() noexcept {
  for (completion_queue* cq : completion_queues_) {
    if (cq->record->owed.load(std::memory_order_relaxed) == 0 || cq->channel == nullptr) continue;
    cq->record->owed.exchange(0);
    const int to = static_cast<completion_channel*>(cq->channel)->write_end.get();
    // If the pipe is full, its reader will make room and then call this function again.
    if (write(to, &cq->name, sizeof cq->name) != ssize_t{sizeof cq->name}) cq->record->owed.store(1);
  }
}

void process::wake_service() noexcept {
  const char byte = 0;
  (void)!write(wake_write_.get(), &byte, 1);
}

void process::call_attention() noexcept {
  own().attention.store(1, orders::calling_attention);
  wake_service();
}

bool process::add_stalled(queue_pair& qp) noexcept {
  try {
    const std::lock_guard lock(stalled_mutex_);
    if (std::find(stalled_.begin(), stalled_.end(), &qp) != stalled_.end()) return true;
    stalled_.push_back(&qp);
    stalled_count_.store(static_cast<std::uint32_t>(stalled_.size()), std::memory_order_relaxed);
    if (stalled_.size() == 1) wake_service();
    return true;
  } catch (...) {
    return false;
  }
}

void process::forget_stalled(queue_pair& qp) noexcept {
  const std::lock_guard progressing(progress_mutex_);
  const std::lock_guard lock(stalled_mutex_);
  std::erase(stalled_, &qp);
  stalled_count_.store(static_cast<std::uint32_t>(stalled_.size()), std::memory_order_relaxed);
}

void process::progress() noexcept {
  const std::unique_lock progressing(progress_mutex_, std::try_to_lock);
  if (!progressing.owns_lock()) return;
  if (own().attention.load(std::memory_order_relaxed) != 0) attend();
  if (motor_.flying.load(std::memory_order_relaxed) != 0) air_->land(*this);
  if (stalled_count_.load(std::memory_order_relaxed) == 0) return;
  // By index: only this thread removes entries, while others append.
  for (std::size_t i = 0;; ++i) {
    queue_pair* qp = nullptr;
    {
      const std::lock_guard lock(stalled_mutex_);
      if (i >= stalled_.size()) break;
      qp = stalled_[i];
    }
    if (!advance(*qp)) continue;
    const std::lock_guard lock(stalled_mutex_);
    if (!has_stalled(*qp)) {
      stalled_.erase(stalled_.begin() + static_cast<std::ptrdiff_t>(i));
      stalled_count_.store(static_cast<std::uint32_t>(stalled_.size()), std::memory_order_relaxed);
      --i;
    }
  }
}

void process::attend() noexcept {
  own().attention.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(orders::calling_attention);
  const std::lock_guard lock(objects_mutex_);
  for (queue_pair* qp : queue_pairs_) take_responder_error(*qp);
  post_owed_events();
  for (completion_queue* cq : completion_queues_) {
    if (cq->record->overrun.load(std::memory_order_acquire) == 0 || cq->failure_raised) continue;
    cq->failure_raised = true;
    ibv_async_event event{};
    event.element.cq = cq;
    event.event_type = IBV_EVENT_CQ_ERR;
    raise_event(context::of(cq->context), event);
    for (queue_pair* qp : queue_pairs_)
      if (qp->send_completions == cq || qp->receive_completions == cq) take_completion_error(*qp);
  }
  for (shared_receive_queue* srq : shared_receive_queues_) {
    if (srq->queue.record->limit_reached.exchange(0) == 0) continue;
    ibv_async_event event{};
    event.element.srq = srq;
    event.event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
    raise_event(context::of(srq->context), event);
  }
}

bool process::quiesce_one(queue_pair& qp) noexcept {
  qp_record& record = *qp.record;
  const std::uint32_t other = record.destination.load(std::memory_order_relaxed);
  if (record.type.load(std::memory_order_relaxed) != IBV_QPT_UD && other != 0) {
    peer* p = find_peer(slot_of(other));
    if (p != nullptr && !p->base->qps[index_of(other)].send_lock.await_release() && !p->dead.load())
      return false;
  }
  receive_queue_record* queue = at<receive_queue_record>(own(), record.receive_queue.load());
  return queue == nullptr || queue->lock.await_release();
}

bool process::quiesce(queue_pair* only) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (abandoned()) return true;
  bool quiet = true;
  if (only != nullptr) {
    quiet = quiesce_one(*only);
  } else {
    const std::lock_guard lock(objects_mutex_);
    quiet = std::all_of(queue_pairs_.begin(), queue_pairs_.end(),
                        [&](queue_pair* qp) { return quiesce_one(*qp); });
  }
  // Live processes have released their locks. Requests of dead ones are served now or never.
  serve_bounces();
  for (const std::atomic<bool>& serving : serving_)
    for (unsigned round = 0; serving.load(); ++round) back_off(round);
  return quiet;
}

}  // namespace chorale::soft
