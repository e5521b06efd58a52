// SPDX-License-Identifier: Apache-2.0
#include "multicast_membership.hpp"

#include <utility>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/verbs/address.hpp>

#include "failure.hpp"
#include "text.hpp"

namespace chorale::verbs {
namespace {

std::string name_of(const ibv_qp* member, const ibv_gid& group) {
  return fmt::format("QP {:#x} of {}, group {}", member->qp_num, device_name(member->context),
                     to_string(group));
}

}  // namespace

multicast_membership::multicast_membership(const queue_pair& member, const ibv_gid& group, std::uint16_t lid)
    : provider_(&member.provider()), group_(group), lid_(lid) {
  if (member.native() == nullptr) fail_closed("ibv_attach_mcast", "queue pair");
  if (member.type() != IBV_QPT_UD)
    throw error(errc::invalid_argument,
                fmt::format("ibv_attach_mcast of {}: only UD queue pairs receive multicast, this one is {}",
                            name_of(member.native(), group), to_string(member.type())));
  if (!is_multicast(group))
    throw error(
        errc::invalid_argument,
        fmt::format("ibv_attach_mcast of {}: that is no multicast GID (ff00::/8 or ::ffff:224.0.0.0/100)",
                    name_of(member.native(), group)));
  if (const int failure = errno_of(provider_->attach_mcast(member.native(), &group_, lid_)); failure != 0)
    fail(failure, "ibv_attach_mcast", name_of(member.native(), group));
  member_ = member.native();
}

multicast_membership::multicast_membership(multicast_membership&& other) noexcept
    : provider_(other.provider_),
      member_(std::exchange(other.member_, nullptr)),
      group_(other.group_),
      lid_(other.lid_) {}

multicast_membership& multicast_membership::operator=(multicast_membership&& other) noexcept {
  if (this != &other) {
    static_cast<void>(detach());
    provider_ = other.provider_;
    member_ = std::exchange(other.member_, nullptr);
    group_ = other.group_;
    lid_ = other.lid_;
  }
  return *this;
}

int multicast_membership::detach() noexcept {
  if (member_ == nullptr) return 0;
  const int failure = errno_of(provider_->detach_mcast(member_, &group_, lid_));
  if (failure == 0) member_ = nullptr;
  return failure;
}

void multicast_membership::close() {
  if (const int failure = detach(); failure != 0) fail(failure, "ibv_detach_mcast", name_of(member_, group_));
}

}  // namespace chorale::verbs
