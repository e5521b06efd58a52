// SPDX-License-Identifier: Apache-2.0
// The multicast group of a communicator, and how a port joins it.
#pragma once

#include <cstdint>

#include <chorale/core/config.hpp>
#include <chorale/verbs/address.hpp>
#include <chorale/verbs/device.hpp>

namespace chorale::transport {

/// The multicast group of a `number` (`group_numbers`): ::ffff:239.x.y.z with 24 bits of it if the port's
/// address is IPv4 (RoCE v2), ff12:a01b::/32 with all of them on InfiniBand, ff12::/16 elsewhere. Groups may
/// collide by chance; the secret in each datagram distinguishes them.
ibv_gid multicast_gid(const verbs::device& device, const verbs::local_port& port,
                      std::uint32_t number) noexcept;

/// True if librdmacm asks the fabric to join, false if attaching suffices.
bool is_managed(const verbs::device& device, const verbs::local_port& port, const config& settings) noexcept;

/// @throws error errc::unsupported, naming the remedy, if ports of this kind cannot join multicast groups.
void require_multicast(const verbs::device& device, const verbs::local_port& port, const config& settings);
bool has_multicast(const verbs::device& device, const verbs::local_port& port, const config& settings);

}  // namespace chorale::transport
