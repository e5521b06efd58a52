// SPDX-License-Identifier: Apache-2.0
// A device that a rank has opened, the port that it uses, and the addresses of the other ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <chorale/core/config.hpp>
#include <chorale/transport/wire/address_book.hpp>
#include <chorale/transport/wire/opened_device.hpp>
#include <chorale/verbs/address.hpp>
#include <chorale/verbs/selection.hpp>

namespace chorale::transport {

/// Selects a further device port for a transport, besides the one that the settings select. Fields as in
/// `config`.
struct port_selection {
  std::string device;
  std::uint8_t port = 1;
  std::optional<int> gid_index{};
  std::optional<std::uint16_t> pkey_index{};
  std::optional<std::uint16_t> pkey{};
  std::uint8_t service_level = 0;
  int mtu = 0;
  /// False if the transport uses the port for some ranks only, such as `soft0` for the ranks of its host:
  /// then it need not reach the others.
  bool reaches_all = true;

  /// The settings with this port's selection substituted.
  [[nodiscard]] config within(config settings) const;
};

/// Device, protection domain, local address, and the addresses of the peers reached through it: the
/// corresponding ports of the other ranks. Movable; the objects it refers to stay in place.
class device_port {
 public:
  /// Opens the device that the settings select for the rank with number `local_rank` on its host. While the
  /// device is in use, further ports of the process with the same settings share it, without another search
  /// of all devices. @throws error as verbs::choose and verbs::device::open.
  device_port(const config& settings, int local_rank);
  /// The port of `soft0` to the ranks of this rank's place; `other` leads to all other ranks. If `other` is a
  /// `soft0` port as well, since the places are virtual, the device is opened a second time, so that no rank
  /// is reached through the wrong port. @throws error as the constructor.
  [[nodiscard]] static device_port to_place(const config& settings, int local_rank, const device_port& other);
  /// A port of a device that is already open.
  device_port(std::shared_ptr<const opened_device> opened, const verbs::local_port& local);

  /// How the device was chosen; empty if it was already open.
  [[nodiscard]] const verbs::device_choice& chosen() const noexcept { return chosen_; }
  /// Replaces the reason for the choice, or adds a remark to it.
  void explain_choice(std::string why) { chosen_.why = std::move(why); }
  void add_remark(std::string remark) { chosen_.remarks.push_back(std::move(remark)); }
  [[nodiscard]] const std::shared_ptr<const opened_device>& opened() const noexcept { return opened_; }
  [[nodiscard]] const verbs::device& device() const noexcept { return opened_->device; }
  [[nodiscard]] const verbs::protection_domain& domain() const noexcept { return opened_->domain; }
  [[nodiscard]] const verbs::local_port& local() const noexcept { return local_; }
  /// The port with the service level of datagrams and multicasts.
  [[nodiscard]] const verbs::local_port& datagrams() const noexcept { return datagrams_; }
  /// Path MTU in bytes: the smallest of this port's and those of the ranks added so far.
  [[nodiscard]] int mtu_bytes() const noexcept { return verbs::mtu_bytes(static_cast<ibv_mtu>(mtu_)); }

  /// Maximum bytes of one message: the port's limit, but at most 1 GiB, since the lengths of requests have 31
  /// bits.
  [[nodiscard]] std::size_t largest_message() const noexcept { return largest_message_; }

  /// Adds the next rank (from 0).
  void add_peer(const verbs::endpoint_address& address);
  /// The addresses of the ranks added so far.
  [[nodiscard]] const address_book& addresses() const noexcept { return peers_; }
  /// Precondition: that rank was added.
  [[nodiscard]] const verbs::endpoint_address& address_of(int rank) const noexcept { return peers_.of(rank); }
  /// Address attributes of a connection's path to that rank. Precondition: it was added.
  [[nodiscard]] ibv_ah_attr path_to(int rank) const { return verbs::path_to(local_, address_of(rank)); }
  /// The same for datagrams.
  [[nodiscard]] ibv_ah_attr datagram_path_to(int rank) const {
    return verbs::path_to(datagrams_, address_of(rank));
  }

 private:
  struct selected;
  device_port(selected by, const config& settings);

  verbs::device_choice chosen_;
  std::shared_ptr<const opened_device> opened_;
  verbs::local_port local_;
  verbs::local_port datagrams_;
  std::uint8_t mtu_ = 0;
  std::size_t largest_message_ = std::size_t{1} << 30;
  address_book peers_;
};

}  // namespace chorale::transport
