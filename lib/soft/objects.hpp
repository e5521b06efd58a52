// SPDX-License-Identifier: Apache-2.0
// The verbs objects: each begins with the ibv_* structure that programs see.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include <infiniband/verbs.h>

#include "../verbs/profile_rules.hpp"
#include "../verbs/software_device.hpp"
#include "process.hpp"

namespace chorale::soft {

/// A spin lock between threads of this process, for critical sections of nanoseconds.
class spin_lock {
 public:
  void lock() noexcept {
    for (unsigned round = 0; flag_.exchange(true, std::memory_order_acquire); ++round) back_off(round);
  }
  void unlock() noexcept { flag_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> flag_{false};
};

using verbs::event_count;  ///< guarded by `context::events_mutex`

/// `Base` followed by room for the rest of `Extended`, a structure that begins with the same fields: programs
/// that asked for the extended object hold the same address.
template <class Base, class Extended>
struct extendable : Base {
  alignas(8) unsigned char rest[sizeof(Extended) - sizeof(Base)]{};
  Extended* extended() noexcept { return reinterpret_cast<Extended*>(static_cast<Base*>(this)); }
};
static_assert(offsetof(ibv_cq_ex, comp_mask) == sizeof(ibv_cq));
static_assert(offsetof(ibv_qp_ex, comp_mask) == sizeof(ibv_qp));

struct context {
  verbs_context extended{};  ///< programs hold its `context` member
  process* owner = nullptr;
  std::atomic<int> objects{0};

  std::mutex events_mutex;
  std::condition_variable acknowledged;
  std::atomic<int> settling{0};  ///< threads that wait for `acknowledged`
  std::deque<ibv_async_event> async_events;
  int async_write = -1;  ///< receives one byte for each entry of `async_events`

  ibv_context* verbs() noexcept { return &extended.context; }
  static context& of(ibv_context* c) noexcept {
    return *reinterpret_cast<context*>(reinterpret_cast<unsigned char*>(c) -
                                       offsetof(verbs_context, context));
  }
};

/// Queues an asynchronous event for the program.
void raise_event(context& c, const ibv_async_event& event) noexcept;
/// Discards queued events about an object, and waits until the program has acknowledged those it received.
/// `element` as in ibv_async_event. False if it does not do so within the deadline.
bool settle_events(context& c, const void* element, const event_count& asynchronous,
                   const event_count* completions = nullptr) noexcept;

struct protection_domain : ibv_pd {
  std::uint32_t id = 0;
  std::atomic<int> users{0};
};

struct memory_region : ibv_mr {
  std::uint32_t index = 0;
};

struct completion_channel : ibv_comp_channel {
  std::uint64_t inode = 0;
  std::atomic<int> queues{0};
  unique_fd write_end;
};

struct completion_queue : extendable<ibv_cq, ibv_cq_ex> {
  process* owner = nullptr;
  completion_queue_record* record = nullptr;
  completion_entry* entries = nullptr;
  std::uint64_t mask = 0;
  std::uint64_t next = 0;
  spin_lock polling;  ///< guards the four members above
  std::uint64_t name = 0;
  std::atomic<int> users{0};
  event_count completions;
  event_count asynchronous;
  bool failure_raised = false;

  /// Current completion for a program that polls through ibv_cq_ex, from start_poll to end_poll.
  ibv_wc current{};
  std::uint64_t current_timestamp = 0;
  spin_lock polling_extended;
};

struct receive_queue {
  receive_queue_record* record = nullptr;
  std::uint64_t ring = 0;  ///< offset
  std::uint64_t ring_bytes = 0;
  std::uint64_t mask = 0;  ///< entries - 1
  std::uint32_t max_wr = 0;
  std::uint32_t max_sge = 0;
  spin_lock posting;
  std::uint64_t head_seen = 0;  ///< the owner's copy of `head`; guarded by `posting`
  /// Number of receives whose completions the owner has polled, so that it can find free entries without
  /// reading `head`, which initiators write. At most `head`; not counted for an SRQ.
  std::atomic<std::uint64_t> polled{0};
};

struct shared_receive_queue : ibv_srq {
  receive_queue queue;
  std::atomic<int> users{0};
  event_count asynchronous;
};

/// The destination of a datagram or a connection.
struct address_vector : verbs::packet_path {
  bool reachable;  ///< within this fabric, whatever the ports
  bool by_ports;   ///< ports decide whether it is reachable: `reaches`
};

struct address_handle : ibv_ah {
  address_vector to{};
};

inline process& process_of(const ibv_context* c) noexcept {
  return *context::of(const_cast<ibv_context*>(c)).owner;
}

/// Makes an object and fills the common fields of its ibv_* part; nullptr with errno ENOMEM.
template <class Object>
Object* make_object(ibv_context* c) noexcept {
  return verbs::unless_short([c] { return verbs::make_object<Object>(c, context::of(c).objects); });
}

template <class Object>
void destroy_object(Object* object) noexcept {
  verbs::destroy_object(object, context::of(object->context).objects);
}

}  // namespace chorale::soft
