#include "addresses.hpp"

#include <cerrno>

#include "../../verbs/sender_of.hpp"
#include "fabric.hpp"
#include "queue_pair.hpp"

namespace chorale::simulation::device {
namespace {

constexpr std::uint32_t permissive_lid = 0xffff;

}  // namespace

address_vector resolve(const context& from, const ibv_ah_attr& a) noexcept {
  fabric& all = from.nic->owner();
  address_vector to;
  to.global = a.is_global != 0;
  to.service_level = a.sl;
  to.hop_limit = a.grh.hop_limit;
  to.lid = a.dlid;
  to.gid = a.grh.dgid;
  to.source_index = a.grh.sgid_index;
  to.source = from.port.gids[a.grh.sgid_index % verbs::most_profile_gids].gid;
  to.flow = static_cast<std::uint32_t>(a.grh.traffic_class) << 20 | (a.grh.flow_label & 0xfffffU);
  to.multicast =
      to.global ? verbs::is_multicast(to.gid) : to.lid >= first_multicast_lid && to.lid != permissive_lid;
  if (!to.multicast) to.target = to.global ? all.find(to.gid) : all.find(to.lid);
  return to;
}

bool reaches(const queue_pair& from, const address_vector& path, const queue_pair& to) noexcept {
  if (!from.nic->owner().looks_at_ports()) return true;
  const context& near = context::of(from.context);
  const context& far = context::of(to.context);
  if (near.port_down || far.port_down ||
      !verbs::share_partition(near.profile->pkeys[from.attributes.pkey_index],
                              far.profile->pkeys[to.attributes.pkey_index]))
    return false;
  if (path.multicast) return near.port.ethernet == far.port.ethernet;
  ibv_ah_attr way{};
  way.is_global = path.global ? 1 : 0;
  way.dlid = path.lid;
  way.grh.dgid = path.gid;
  way.grh.sgid_index = path.source_index;
  return verbs::reaches(near.port, way, far.port);
}

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* a) noexcept {
  context& c = context::of(pd->context);
  errno = verbs::check(*c.profile, *a);
  if (errno == 0 && c.in_use.address_handles >= c.profile->address_handles) errno = ENOMEM;
  if (errno != 0) return nullptr;
  return unless_short([&]() -> ibv_ah* {
    auto* const ah = make_object<address_handle>(pd->context);
    ah->pd = pd;
    ah->to = resolve(c, *a);
    ++c.in_use.address_handles;
    ++static_cast<protection_domain*>(pd)->users;
    return ah;
  });
}

ibv_ah* create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port) noexcept {
  ibv_ah_attr a = verbs::sender_of(*wc, grh, port);
  return create_ah(pd, &a);
}

int destroy_ah(ibv_ah* base) noexcept {
  auto* const ah = static_cast<address_handle*>(base);
  --context::of(ah->context).in_use.address_handles;
  --static_cast<protection_domain*>(ah->pd)->users;
  destroy_object(ah);
  return 0;
}

}  // namespace chorale::simulation::device
