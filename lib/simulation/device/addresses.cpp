#include "addresses.hpp"

#include <cerrno>

#include "../../verbs/sender_of.hpp"
#include "fabric.hpp"

namespace chorale::simulation::device {
namespace {

constexpr std::uint32_t permissive_lid = 0xffff;

}  // namespace

address_vector resolve(fabric& all, const ibv_ah_attr& a) noexcept {
  address_vector to;
  to.global = a.is_global != 0;
  to.service_level = a.sl;
  to.hop_limit = a.grh.hop_limit;
  to.lid = a.dlid;
  to.gid = a.grh.dgid;
  to.flow = static_cast<std::uint32_t>(a.grh.traffic_class) << 20 | (a.grh.flow_label & 0xfffffU);
  to.multicast =
      to.global ? verbs::is_multicast(to.gid) : to.lid >= first_multicast_lid && to.lid != permissive_lid;
  if (!to.multicast) to.target = to.global ? all.find(to.gid) : all.find(to.lid);
  return to;
}

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* a) noexcept {
  if (a->port_num != 1 || (a->is_global != 0 && a->grh.sgid_index != 0)) {
    errno = EINVAL;
    return nullptr;
  }
  return unless_short([&]() -> ibv_ah* {
    auto* const ah = make_object<address_handle>(pd->context);
    ah->pd = pd;
    ah->to = resolve(hca_of(pd->context).owner(), *a);
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
  --static_cast<protection_domain*>(ah->pd)->users;
  destroy_object(ah);
  return 0;
}

}  // namespace chorale::simulation::device
