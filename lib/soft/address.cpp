// Address vectors and handles: the whole fabric has a single LID and GID.
#include <cerrno>

#include "../verbs/profile_rules.hpp"
#include "../verbs/sender_of.hpp"
#include "queue_pair.hpp"

namespace chorale::soft {

address_vector resolve(process& self, const ibv_ah_attr& a) noexcept {
  const registry& fabric = self.fabric();
  address_vector to{};
  to.global = a.is_global != 0;
  to.service_level = a.sl;
  to.hop_limit = a.grh.hop_limit;
  to.source_index = a.grh.sgid_index;
  to.lid = a.dlid;
  to.gid = a.grh.dgid;
  to.flow = static_cast<std::uint32_t>(a.grh.traffic_class) << 20 | (a.grh.flow_label & 0xfffffU);
  if (to.global) {
    to.multicast = verbs::is_multicast(to.gid);
    to.reachable = to.multicast || (to.gid.global.subnet_prefix == htobe64(0xfe80000000000000) &&
                                    to.gid.global.interface_id == htobe64(fabric.guid));
  } else {
    to.multicast = to.lid >= 0xc000 && to.lid != 0xffff;
    to.reachable = to.multicast || to.lid == fabric.lid;
  }
  to.by_ports = self.looks_at_ports();
  if (to.by_ports) to.reachable = false;
  return to;
}

bool reaches(queue_pair& qp, const address_vector& path, const peer& target, std::uint32_t qpn) noexcept {
  process& self = *qp.owner;
  const segment& other = *target.base;
  const qp_record& record = other.qps[index_of(qpn)];
  if (self.own().port_down.load() != 0 || other.port_down.load() != 0 ||
      !verbs::share_partition(static_cast<std::uint16_t>(qp.record->pkey.load(std::memory_order_relaxed)),
                              static_cast<std::uint16_t>(record.pkey.load(std::memory_order_relaxed))))
    return false;
  if (path.multicast) return self.own().port.ethernet == other.port.ethernet;
  ibv_ah_attr way{};
  way.is_global = path.global ? 1 : 0;
  way.dlid = static_cast<std::uint16_t>(path.lid);
  way.grh.dgid = path.gid;
  way.grh.sgid_index = path.source_index;
  return verbs::reaches(self.own().port, way, other.port);
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

ibv_ah* create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port) noexcept {
  ibv_ah_attr a = verbs::sender_of(*wc, grh, port);
  return create_ah(pd, &a);
}

int destroy_ah(ibv_ah* base) noexcept {
  auto* ah = static_cast<address_handle*>(base);
  process_of(ah->context).in_use().address_handles.fetch_sub(1);
  static_cast<protection_domain*>(ah->pd)->users.fetch_sub(1);
  destroy_object(ah);
  return 0;
}

}  // namespace chorale::soft
