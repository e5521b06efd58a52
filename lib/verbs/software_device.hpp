// SPDX-License-Identifier: Apache-2.0
// What the verbs objects of soft0 and sim0 have in common, however the device moves data.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <pthread.h>

#include <infiniband/verbs.h>

namespace chorale::verbs {

/// The entry of a software device in the list of devices. Providers of real hardware look for their own mark
/// behind the ibv_device; here they find zeroes.
struct listed_device {
  explicit listed_device(const char* name) noexcept {
    shown.node_type = IBV_NODE_CA;
    shown.transport_type = IBV_TRANSPORT_IB;
    std::snprintf(shown.name, sizeof shown.name, "%s", name);
    std::snprintf(shown.dev_name, sizeof shown.dev_name, "%s", name);
  }
  ibv_device shown{};
  void* no_provider[64]{};
};

/// The list of `only`, or of no device; to be freed by std::free. nullptr with errno ENOMEM.
inline ibv_device** list_of(ibv_device* only, int* count) noexcept {
  auto** const list = static_cast<ibv_device**>(std::calloc(2, sizeof(ibv_device*)));
  if (list == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  list[0] = only;
  if (count != nullptr) *count = only != nullptr ? 1 : 0;
  return list;
}

/// The numbers of events about an object that the program has received and acknowledged.
struct event_count {
  unsigned delivered = 0;
  unsigned acknowledged = 0;
  [[nodiscard]] bool settled() const noexcept { return delivered == acknowledged; }
};

/// Calls `f(object)` with the object that an asynchronous event is about, as the device's own class; not for
/// events of the port.
template <class CompletionQueue, class SharedReceiveQueue, class QueuePair, class Use>
void with_object_of(const ibv_async_event& event, Use&& use) noexcept {
  switch (event.event_type) {
    case IBV_EVENT_CQ_ERR:
      return use(static_cast<CompletionQueue&>(*event.element.cq));
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return use(static_cast<SharedReceiveQueue&>(*event.element.srq));
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return use(static_cast<QueuePair&>(*event.element.qp));
    default:
      return;
  }
}

/// Returns what `make()` returns; nullptr with errno ENOMEM if memory runs out.
template <class Make>
auto unless_short(Make make) noexcept -> decltype(make()) {
  try {
    return make();
  } catch (...) {
    errno = ENOMEM;
    return nullptr;
  }
}

/// Makes an object and fills the common fields of its ibv_* part. `objects`: the context's count of objects.
/// @throws std::bad_alloc.
template <class Object, class Count>
Object* make_object(ibv_context* c, Count& objects) {
  auto* const object = new Object();
  object->context = c;
  if constexpr (requires { object->cond; }) {
    pthread_mutex_init(&object->mutex, nullptr);
    pthread_cond_init(&object->cond, nullptr);
  }
  ++objects;
  return object;
}

template <class Object, class Count>
void destroy_object(Object* object, Count& objects) noexcept {
  if constexpr (requires { object->cond; }) {
    pthread_mutex_destroy(&object->mutex);
    pthread_cond_destroy(&object->cond);
  }
  --objects;
  delete object;
}

/// Fills in a new queue pair, and what it was granted in `init`.
inline void fill(ibv_qp& qp, ibv_pd* pd, ibv_qp_init_attr& init, ibv_qp_cap& granted) noexcept {
  qp.pd = pd;
  qp.qp_context = init.qp_context;
  qp.qp_type = init.qp_type;
  qp.send_cq = init.send_cq;
  qp.recv_cq = init.recv_cq;
  qp.srq = init.srq;
  qp.state = IBV_QPS_RESET;
  if (init.srq != nullptr) init.cap.max_recv_wr = init.cap.max_recv_sge = 0;
  granted = init.cap;
}

}  // namespace chorale::verbs
