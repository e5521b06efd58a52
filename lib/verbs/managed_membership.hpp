// Membership of a port in a multicast group that the connection manager asks the fabric for.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <chorale/verbs/address.hpp>
#include <chorale/verbs/device.hpp>

namespace chorale::verbs {

/// While it lives the port is a member of `group`, because librdmacm (rdma_join_multicast) has arranged it:
/// on InfiniBand with the subnet administrator, which makes the group when the first member joins and gives
/// it its LID; on RoCE with the switches (IGMP). Queue pairs are attached by `multicast_membership`. Any
/// thread, one at a time.
class managed_membership {
 public:
  /// Waits until the fabric has answered, at most `deadline`. `group`: on RoCE IPv4-mapped, on InfiniBand of
  /// `of_subnet_administrator()`.
  /// @throws error errc::unsupported if the library was built without librdmacm or the port has no IP address
  /// to be found by; errc::deadline; a system error naming the call if the fabric refuses.
  managed_membership(const device& owner, const local_port& port, std::uint16_t pkey_index,
                     const ibv_gid& group, std::chrono::milliseconds deadline);
  managed_membership(const managed_membership&) = delete;
  managed_membership& operator=(const managed_membership&) = delete;
  /// Leaves the group.
  ~managed_membership();

  /// Takes what the fabric has told since. @throws error, a system error naming the group, once the fabric
  /// has ended the membership: nothing comes from the group any more.
  void look();

  /// The group as the fabric has it.
  [[nodiscard]] const ibv_gid& group() const noexcept { return group_; }
  /// Its LID on InfiniBand, else 0.
  [[nodiscard]] std::uint16_t lid() const noexcept { return lid_; }
  /// The service level of what is sent to it.
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

/// A transient group ff12:a01b::/32 of this subnet. The connection manager takes such addresses as they are;
/// others it would translate as those of IP groups.
ibv_gid of_subnet_administrator(std::uint32_t number) noexcept;

/// The IPoIB interface on that port of `device` with the partition of row `pkey_index`, by which the
/// connection manager finds an InfiniBand port; "" if there is none. `sysfs`: /sys, or what a test has
/// instead.
std::string ipoib_interface(const std::string& sysfs, const std::string& device, std::uint8_t port,
                            std::uint16_t pkey_index);

}  // namespace chorale::verbs
