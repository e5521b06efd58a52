// SPDX-License-Identifier: Apache-2.0
// Everything that must be the same on all ranks of a group, and the error that names a difference.
#pragma once

#include <array>
#include <bit>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include <chorale/core/sendable.hpp>

#include "host.hpp"

namespace chorale::transport {

/// The terms of one device port.
struct port_terms {
  std::uint32_t is_soft = 0;  ///< 1 for soft0
  /// 1 if this port is a soft0 that must reach all ranks, which must then share a host and a fabric.
  std::uint32_t is_for_all = 0;
  std::uint64_t fabric = 0;  ///< of that soft0, from its GUID; zero for other ports
  char device[64]{};         ///< for errors only
};

/// The terms that determine how messages travel.
struct message_terms {
  /// A setting without a value: the ranks' common measurements decide.
  static constexpr std::uint64_t unset = ~std::uint64_t{0};
  std::uint64_t block_bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t zero_copy_bytes = 0;
  std::uint64_t alltoall_zero_copy_bytes = 0;
  // For send and receive.
  std::uint64_t eager_bytes = 0;
  std::uint64_t eager_way = 0;
  std::uint64_t send_block_bytes = 0;
  std::uint64_t long_sends = 0;
  std::uint64_t near = 0;  ///< `config::near`
};

/// The representation of numbers, as far as it differs between machines and type tags do not tell: 1 if
/// big-endian, 2 if char is signed, and 256 for each binary digit of a long double.
inline constexpr std::uint64_t numbers_here = (std::endian::native == std::endian::big ? 1 : 0) +
                                              (CHAR_MIN < 0 ? 2 : 0) +
                                              256 * std::numeric_limits<long double>::digits;

/// Everything that must be the same on all ranks, and further facts for errors. Each card carries its
/// fingerprint; the whole is sent only if fingerprints differ.
struct group_terms {
  static constexpr std::size_t most_ports = 16;
  message_terms messages{};
  std::uint64_t tuning = 0;  ///< fingerprint of the tuning table
  std::uint64_t trials = 0;
  std::uint64_t numbers = numbers_here;
  std::uint64_t places = 0;  ///< hash of `config::places`
  std::uint32_t connections = 0;
  std::uint32_t port_count = 1;
  std::uint64_t transport_hash = 0;    ///< of the whole text
  std::uint64_t composition_hash = 0;  ///< of the whole text
  // The rest is for errors only, except `ports` and, if a soft0 port must reach all ranks, `host` and
  // `user.is_closed`.
  host_identity host{};
  user_identity user{};
  std::uint64_t pid_namespace = 0;
  char transport[64]{};
  char composition[512]{};  ///< non-standard algorithms, as far as they fit
  std::array<port_terms, most_ports> ports{};

  void set_transport(std::string_view name);
  void set_composition(std::string_view text);
  [[nodiscard]] std::uint64_t fingerprint() const noexcept;
  /// As sent: without unused ports.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
};
static_assert(detail::sendable<group_terms>);

/// Equal for ranks of one host.
[[nodiscard]] std::uint64_t fingerprint(const host_identity& host) noexcept;

/// False if the bytes are not terms. Ensures that all texts are terminated.
[[nodiscard]] bool read_terms(std::span<const std::byte> bytes, group_terms& terms) noexcept;

/// @throws error that names both ranks and the difference, unless the terms match.
void require_same_terms(int rank, const group_terms& mine, int peer, const group_terms& theirs);

}  // namespace chorale::transport
