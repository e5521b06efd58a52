// SPDX-License-Identifier: Apache-2.0
// The verbs objects: each begins with the ibv_* structure that programs see.
#pragma once

#include <cstdint>
#include <vector>

#include <infiniband/verbs.h>

#include "../../verbs/profile_rules.hpp"
#include "../../verbs/software_device.hpp"
#include "../scheduler.hpp"
#include "ring.hpp"

namespace chorale::simulation::device {

class hca;

using verbs::event_count;
using verbs::unless_short;

/// An adapter as opened by one rank.
struct context : ibv_context {
  hca* nic = nullptr;
  int rank = -1;    ///< the rank that polls the objects made here
  int objects = 0;  ///< objects made here and not destroyed
  const verbs::device_profile* profile = nullptr;
  verbs::port_identity port;
  bool port_down = false;
  /// The resources that the profile limits.
  struct use {
    std::uint64_t queue_pairs = 0;
    std::uint64_t shared_receive_queues = 0;
    std::uint64_t address_handles = 0;
    std::uint64_t memberships = 0;
    std::uint64_t registered_bytes = 0;
  } in_use;
  ring<ibv_async_event> events;
  wait_list waiting;    ///< fibers that wait for an event
  int empty_looks = 0;  ///< unsuccessful polls of completion queues at `last_look`
  instant last_look{};

  static context& of(ibv_context* c) noexcept { return static_cast<context&>(*c); }
};

struct protection_domain : ibv_pd {
  int users = 0;
};

struct memory_region : ibv_mr {
  int access = 0;
};

struct completion_channel : ibv_comp_channel {
  int queues = 0;
  ring<std::uint32_t> events;  ///< numbers of completion queues
  wait_list waiting;           ///< fibers that wait for an event
};

/// A completion, and the queue entries that polling it frees.
struct completion {
  ibv_wc report;
  /// The number of the send request that this completes; 0: a receive.
  std::uint64_t sends = 0;
};

enum class notification { none, solicited, any };

struct completion_queue : ibv_cq {
  std::uint32_t number = 0;
  ring<completion> entries;
  notification armed = notification::none;
  bool overrun = false;
  int users = 0;
  event_count completions;
  event_count asynchronous;
};

/// A receive request.
struct receive {
  std::uint64_t wr_id = 0;
  std::vector<ibv_sge> pieces;

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (const ibv_sge& p : pieces) sum += p.length;
    return sum;
  }
};

struct receive_queue {
  std::uint32_t max_wr = 0;
  std::uint32_t max_sge = 0;
  std::uint32_t unpolled =
      0;  ///< taken receives whose completions were not polled yet: they still occupy entries
  ring<receive> posted;
};

struct shared_receive_queue : ibv_srq {
  receive_queue receives;
  std::uint32_t limit = 0;  ///< below it an event is raised; 0: none
  int users = 0;
  event_count asynchronous;
};

/// Where a datagram or a connection goes.
struct address_vector : verbs::packet_path {
  hca* target = nullptr;  ///< nullptr: a group, or unreachable
  ibv_gid source{};       ///< source GID of a global path
};

struct address_handle : ibv_ah {
  address_vector to{};
};

inline hca& hca_of(const ibv_context* c) noexcept {
  return *static_cast<const context*>(c)->nic;
}

/// Makes an object and fills the common fields of its ibv_* part. @throws std::bad_alloc.
template <class Object>
Object* make_object(ibv_context* c) {
  return verbs::make_object<Object>(c, context::of(c).objects);
}

template <class Object>
void destroy_object(Object* object) noexcept {
  verbs::destroy_object(object, context::of(object->context).objects);
}

}  // namespace chorale::simulation::device
