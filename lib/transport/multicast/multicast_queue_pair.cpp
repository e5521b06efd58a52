#include "multicast_queue_pair.hpp"

namespace chorale::transport {
namespace {

/// Destination queue pair number of multicasts.
constexpr std::uint32_t all_members = 0xffffff;
/// Sends in addition to one per buffer, for retransmissions.
constexpr std::uint32_t spare_sends = 32;

}  // namespace

multicast_queue_pair::multicast_queue_pair(const verbs::device& device,
                                           const verbs::protection_domain& domain,
                                           const verbs::local_port& port, const options& o)
    : qkey_(o.qkey), last_use_(o.places, 0) {
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
                                         .sends = o.places + spare_sends,
                                         .places = o.places,
                                         .name = "UD multicast"});
  queue_->open({.port = port.number, .pkey_index = o.pkey_index, .access = 0, .qkey = o.qkey});
  membership_.emplace(queue_->pair(), group, lid);
}

bool multicast_queue_pair::is_free(std::uint32_t index) {
  if (last_use_[index] > queue_->completed()) queue_->reap();
  return last_use_[index] <= queue_->completed();
}

bool multicast_queue_pair::send(std::uint32_t index, std::size_t bytes) {
  if (!queue_->may_send()) return false;
  queue_->send(index, bytes, {way_->native(), all_members, qkey_}, false);
  last_use_[index] = queue_->sent();
  return true;
}

}  // namespace chorale::transport
