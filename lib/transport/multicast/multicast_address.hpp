// Which multicast group is a communicator's, and how a port comes to get its packets.
#pragma once

#include <cstdint>

#include <chorale/core/config.hpp>
#include <chorale/verbs/address.hpp>
#include <chorale/verbs/device.hpp>

namespace chorale::transport {

/// The group of those who know `secret`: ::ffff:239.x.y.z where the port's address is IPv4 (RoCE v2),
/// ff12:a01b::/32 with 32 bits of a hash on InfiniBand, ff12::/16 with them elsewhere. Others may have the
/// same by chance; datagrams are told apart by the secret.
ibv_gid multicast_gid(const verbs::device& device, const verbs::local_port& port,
                      std::uint64_t secret) noexcept;

/// True if librdmacm is to ask the fabric, false if attaching does.
bool is_managed(const verbs::device& device, const verbs::local_port& port, const config& settings) noexcept;

/// @throws error errc::unsupported, naming the remedy, if ports of this kind cannot be joined to a group.
void require_multicast(const verbs::device& device, const verbs::local_port& port, const config& settings);
bool has_multicast(const verbs::device& device, const verbs::local_port& port, const config& settings);

}  // namespace chorale::transport
