// What all ranks of a group have to have in common, and the error that names a difference.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <chorale/verbs/address.hpp>

#include "host.hpp"

namespace chorale::transport {

/// The part of it that concerns one device port.
struct port_terms {
  std::int64_t mtu = 0;
  std::uint32_t is_soft = 0;  ///< 1 for soft0
  /// 1 for a soft0 that has to reach all ranks, which then share a host and a fabric.
  std::uint32_t is_for_all = 0;
  verbs::endpoint_address fabric{};  ///< of that soft0; zero for other ports
  char device[64]{};                 ///< for errors alone
};

/// The part that says how messages travel.
struct message_terms {
  std::uint64_t block_bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t zero_copy_bytes = 0;
  std::uint64_t alltoall_zero_copy_bytes = 0;
  // Of send and receive.
  std::uint64_t eager_bytes = 0;
  std::uint64_t eager_way = 0;
  std::uint64_t send_block_bytes = 0;
  std::uint64_t long_sends = 0;
};

/// What has to be the same on all ranks, and what an error says beside it. Its fingerprint travels in each
/// card; the whole only if the fingerprints differ.
struct group_terms {
  static constexpr std::size_t most_ports = 16;
  message_terms messages{};
  std::uint64_t tuning = 0;  ///< fingerprint of the table
  std::uint64_t trials = 0;
  std::uint32_t connections = 0;
  std::uint32_t port_count = 1;
  std::uint64_t transport_hash = 0;    ///< of the whole text
  std::uint64_t composition_hash = 0;  ///< of the whole text
  // What follows is for errors alone, the host of soft0 excepted.
  host_identity host{};
  user_identity user{};
  std::uint64_t pid_namespace = 0;
  char transport[64]{};
  char composition[512]{};  ///< algorithms that are not the standard ones, as far as they fit
  std::array<port_terms, most_ports> ports{};

  void set_transport(std::string_view name);
  void set_composition(std::string_view text);
  [[nodiscard]] std::uint64_t fingerprint() const noexcept;
  /// As they travel: without the ports that are not there.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
};
static_assert(std::is_trivially_copyable_v<group_terms>);

/// Equal for ranks of one host.
[[nodiscard]] std::uint64_t fingerprint(const host_identity& host) noexcept;

/// False if these bytes are no terms. Texts end, whatever the bytes say.
[[nodiscard]] bool read_terms(std::span<const std::byte> bytes, group_terms& terms) noexcept;

/// @throws error that names both ranks and what differs, unless the terms fit together.
void require_same_terms(int rank, const group_terms& mine, int peer, const group_terms& theirs);

}  // namespace chorale::transport
