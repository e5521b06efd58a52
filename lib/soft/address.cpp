// SPDX-License-Identifier: Apache-2.0
// Address vectors and handles: the whole fabric has a single LID and GID.
#include <cerrno>

#include "../verbs/profile_rules.hpp"
#include "queue_pair.hpp"

namespace chorale::soft {

address_vector resolve(process& self, const ibv_ah_attr& a) noexcept {
  const registry& fabric = self.fabric();
  address_vector to{verbs::path_of(a), false, self.looks_at_ports()};
  if (to.by_ports) return to;
  to.reachable = to.multicast || (to.global ? to.gid.global.subnet_prefix == htobe64(0xfe80000000000000) &&
                                                  to.gid.global.interface_id == htobe64(fabric.guid)
                                            : to.lid == fabric.lid);
  return to;
}

bool reaches(queue_pair& qp, const address_vector& path, const peer& target, std::uint32_t qpn) noexcept {
  const segment& own = qp.owner->own();
  const segment& other = *target.base;
  const auto partition_of = [](const qp_record& record) {
    return static_cast<std::uint16_t>(record.pkey.load(std::memory_order_relaxed));
  };
  return own.port_down.load() == 0 && other.port_down.load() == 0 &&
         verbs::reaches(own.port, partition_of(*qp.record), path, other.port,
                        partition_of(other.qps[index_of(qpn)]));
}

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* a) noexcept {
  process& self = process_of(pd->context);
  errno = verbs::check(self.profile(), *a);
  if (errno != 0) return nullptr;
  auto& made = self.in_use().address_handles;
  auto* ah =
      made.fetch_add(1) < self.profile().address_handles ? make_object<address_handle>(pd->context) : nullptr;
  if (ah == nullptr) {
    made.fetch_sub(1);
    errno = ENOMEM;
    return nullptr;
  }
  ah->pd = pd;
  ah->to = resolve(self, *a);
  engine_counters& counts = self.motor().counters;
  (ah->to.multicast ? counts.multicast_levels : counts.datagram_levels)
      .fetch_or(static_cast<std::uint16_t>(1U << (a->sl & 15U)), std::memory_order_relaxed);
  static_cast<protection_domain*>(pd)->users.fetch_add(1);
  return ah;
}

int destroy_ah(ibv_ah* base) noexcept {
  auto* ah = static_cast<address_handle*>(base);
  process_of(ah->context).in_use().address_handles.fetch_sub(1);
  static_cast<protection_domain*>(ah->pd)->users.fetch_sub(1);
  destroy_object(ah);
  return 0;
}

}  // namespace chorale::soft
