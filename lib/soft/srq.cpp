// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "../verbs/profile_rules.hpp"
#include "queues.hpp"

namespace chorale::soft {

ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* init) noexcept {
  process& self = process_of(pd->context);
  const ibv_srq_attr& a = init->attr;
  errno = self.abandoned() ? EINVAL : verbs::check(self.profile(), *init);
  if (errno != 0) return nullptr;
  auto* srq = make_object<shared_receive_queue>(pd->context);
  if (srq == nullptr) return nullptr;
  int status =
      open_receive_queue(self, srq->queue, a.max_wr, a.max_sge, static_cast<protection_domain*>(pd)->id);
  if (status == 0) {
    try {
      const std::lock_guard lock(self.objects_mutex());
      if (self.shared_receive_queues().size() >= self.profile().shared_receive_queues) throw std::bad_alloc();
      self.shared_receive_queues().push_back(srq);
    } catch (...) {
      status = ENOMEM;
    }
  }
  if (status != 0) {
    close_receive_queue(self, srq->queue);
    destroy_object(srq);
    errno = status;
    return nullptr;
  }
  srq->pd = pd;
  srq->srq_context = init->srq_context;
  srq->handle = static_cast<std::uint32_t>(self.next_name());
  init->attr.srq_limit = 0;
  static_cast<protection_domain*>(pd)->users.fetch_add(1);
  return srq;
}

int modify_srq(ibv_srq* base, ibv_srq_attr* a, int mask) noexcept {
  auto& srq = static_cast<shared_receive_queue&>(*base);
  process& self = process_of(srq.context);
  if ((mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT)) != 0) return EINVAL;
  if ((mask & IBV_SRQ_MAX_WR) != 0 && a->max_wr != srq.queue.max_wr) return EOPNOTSUPP;
  if ((mask & IBV_SRQ_LIMIT) != 0) {
    if (a->srq_limit > srq.queue.max_wr) return EINVAL;
    receive_queue_record& r = *srq.queue.record;
    const lock_guard lock(r.lock, self.lock_name());
    if (!lock) return EBUSY;
    r.limit.store(a->srq_limit);
  }
  return 0;
}

int query_srq(ibv_srq* base, ibv_srq_attr* a) noexcept {
  auto& srq = static_cast<shared_receive_queue&>(*base);
  a->max_wr = srq.queue.max_wr;
  a->max_sge = srq.queue.max_sge;
  a->srq_limit = srq.queue.record->limit.load();
  return 0;
}

int destroy_srq(ibv_srq* base) noexcept {
  auto* srq = static_cast<shared_receive_queue*>(base);
  process& self = process_of(srq->context);
  if (srq->users.load() != 0) return EBUSY;
  {
    const std::lock_guard lock(self.objects_mutex());
    std::erase(self.shared_receive_queues(), srq);
  }
  if (!settle_events(context::of(srq->context), base, srq->asynchronous)) return EBUSY;
  close_receive_queue(self, srq->queue);
  static_cast<protection_domain*>(srq->pd)->users.fetch_sub(1);
  destroy_object(srq);
  return 0;
}

int post_srq_recv(ibv_srq* base, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept {
  auto& srq = static_cast<shared_receive_queue&>(*base);
  return post_receives(process_of(srq.context), srq.queue, wr, bad);
}

}  // namespace chorale::soft
