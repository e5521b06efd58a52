// SPDX-License-Identifier: Apache-2.0
#include "multicast_queue_pair.hpp"

#include <algorithm>
#include <exception>

#include <chorale/core/clock.hpp>

namespace chorale::transport {
namespace {

/// Destination queue pair number of multicasts.
constexpr std::uint32_t all_members = 0xffffff;
constexpr std::chrono::seconds patience_of_end{1};

}  // namespace

multicast_queue_pair::multicast_queue_pair(datagram_queue& sender, const verbs::device& device,
                                           const verbs::protection_domain& domain,
                                           const verbs::local_port& port, const options& o)
    : sender_(&sender), qkey_(o.qkey), last_use_(o.places, 0) {
  ibv_gid group = o.group;
  std::uint16_t lid = 0;
  verbs::local_port from = port;
  if (o.is_managed) {
    managed_.emplace(device, port, o.pkey_index, o.group, o.deadline);
    group = managed_->group();
    lid = managed_->lid();
    from.service_level = managed_->service_level();
  } else {
    interface_.emplace(device, port, o.group);
  }
  way_.emplace(domain, verbs::path_to_group(from, group, lid));
  queue_.emplace(device, domain,
                 datagram_queue::options{.datagram_bytes = o.datagram_bytes,
                                         .receives = o.receives,
                                         .sends = 1,
                                         .places = o.places,
                                         .name = "UD multicast"});
  queue_->open({.port = port.number, .pkey_index = o.pkey_index, .access = 0, .qkey = o.qkey});
  membership_.emplace(queue_->pair(), group, lid);
}

multicast_queue_pair::~multicast_queue_pair() {
  const std::uint64_t last = *std::max_element(last_use_.begin(), last_use_.end());
  const auto give_up = clock::now() + patience_of_end;
  try {
    while (sender_->completed() < last && clock::now() < give_up) {
      sender_->reap();
      clock::give_way();
    }
  } catch (const std::exception&) {
    // The sender is broken, and sends nothing any more.
  }
}

bool multicast_queue_pair::is_free(std::uint32_t index) {
  if (last_use_[index] > sender_->completed()) sender_->reap();
  return last_use_[index] <= sender_->completed();
}

bool multicast_queue_pair::send(std::uint32_t index, std::size_t bytes) {
  if (!sender_->may_send()) return false;
  sender_->send(queue_->content(index, bytes), {way_->native(), all_members, qkey_}, false);
  last_use_[index] = sender_->sent();
  return true;
}

}  // namespace chorale::transport
