// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "fabric.hpp"
#include "queue_pair.hpp"
#include "verbs.hpp"

namespace chorale::simulation::device {

address_vector resolve(const context& from, const ibv_ah_attr& a) noexcept {
  fabric& all = from.nic->owner();
  address_vector to{verbs::path_of(a)};
  to.source = from.port.gids[to.source_index % verbs::most_profile_gids].gid;
  if (!to.multicast) to.target = to.global ? all.find(to.gid) : all.find(to.lid);
  if (to.target != nullptr && !all.connects(*from.nic, *to.target)) to.target = nullptr;
  return to;
}

bool reaches(const queue_pair& from, const address_vector& path, const queue_pair& to) noexcept {
  if (!from.nic->owner().looks_at_ports()) return true;
  const context& near = context::of(from.context);
  const context& far = context::of(to.context);
  return !near.port_down && !far.port_down &&
         verbs::reaches(near.port, near.profile->pkeys[from.attributes.pkey_index], path, far.port,
                        far.profile->pkeys[to.attributes.pkey_index]);
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

int destroy_ah(ibv_ah* base) noexcept {
  auto* const ah = static_cast<address_handle*>(base);
  --context::of(ah->context).in_use.address_handles;
  --static_cast<protection_domain*>(ah->pd)->users;
  destroy_object(ah);
  return 0;
}

}  // namespace chorale::simulation::device
