// SPDX-License-Identifier: Apache-2.0
// Membership of a port in a multicast group, requested from the fabric by the connection manager.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <chorale/verbs/address.hpp>
#include <chorale/verbs/device.hpp>

namespace chorale::verbs {

/// During its lifetime the port is a member of `group`. librdmacm (rdma_join_multicast) arranges that: on
/// InfiniBand with the subnet administrator, which creates the group when the first member joins and assigns
/// its LID; on RoCE with the switches (IGMP). Queue pairs are attached by `multicast_membership`. Any thread,
/// one at a time.
class managed_membership {
 public:
  /// Waits for the answer of the fabric, at most `deadline`. `group`: on RoCE IPv4-mapped, on InfiniBand from
  /// `of_subnet_administrator()`.
  /// @throws error errc::unsupported if the library was built without librdmacm or the port has no IP address
  /// by which to find it; errc::deadline; a system error naming the call if the fabric refuses.
  managed_membership(const device& owner, const local_port& port, std::uint16_t pkey_index,
                     const ibv_gid& group, std::chrono::milliseconds deadline);
  managed_membership(const managed_membership&) = delete;
  managed_membership& operator=(const managed_membership&) = delete;
  /// Leaves the group.
  ~managed_membership();

  /// Handles new events of the fabric. @throws error, a system error naming the group, once the fabric has
  /// ended the membership: no datagrams of the group arrive any more.
  void look();

  /// The group's address as assigned by the fabric.
  [[nodiscard]] const ibv_gid& group() const noexcept { return group_; }
  /// Its LID on InfiniBand, else 0.
  [[nodiscard]] std::uint16_t lid() const noexcept { return lid_; }
  /// The service level for datagrams to the group.
  [[nodiscard]] std::uint8_t service_level() const noexcept { return service_level_; }

  /// True if the library was built with librdmacm.
  static bool is_built() noexcept;

 private:
  struct channel;
  struct identifier;

  std::unique_ptr<channel> channel_;
  std::unique_ptr<identifier> identifier_;
  std::string what_;
  int ended_ = 0;  ///< errno of the end of the membership
  ibv_gid group_{};
  std::uint16_t lid_ = 0;
  std::uint8_t service_level_ = 0;
};

/// A transient group ff12:a01b::/32 of this subnet. The connection manager uses such addresses unchanged; it
/// would translate others as addresses of IP groups.
ibv_gid of_subnet_administrator(std::uint32_t number) noexcept;

/// The IPoIB interface on that port of `device` with the partition of row `pkey_index`, by which the
/// connection manager finds an InfiniBand port; "" if there is none. `sysfs`: /sys, or a test's replacement.
std::string ipoib_interface(const std::string& sysfs, const std::string& device, std::uint8_t port,
                            std::uint16_t pkey_index);

}  // namespace chorale::verbs
