// SPDX-License-Identifier: Apache-2.0
#include "hca.hpp"

#include <endian.h>

namespace chorale::simulation::device {
namespace {

constexpr std::uint64_t link_local = 0xfe80000000000000;
/// Locally administered, so no vendor's; the host's number is added.
constexpr std::uint64_t first_guid = 0x0200'7369'6d00'0000;

}  // namespace

hca::hca(fabric& owner, int host) noexcept : owner_(&owner), host_(host) {
  device_.self = this;
}

ibv_gid hca::gid() const noexcept {
  ibv_gid gid{};
  gid.global.subnet_prefix = htobe64(link_local);
  gid.global.interface_id = htobe64(first_guid + static_cast<std::uint64_t>(host_));
  return gid;
}

}  // namespace chorale::simulation::device
