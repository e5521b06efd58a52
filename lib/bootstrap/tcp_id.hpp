// SPDX-License-Identifier: Apache-2.0
// The contents of a bootstrap::tcp_id, and the sockets of the ids that this process has made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <chorale/bootstrap/tcp.hpp>
#include <chorale/core/sendable.hpp>

#include "../core/process_fd.hpp"
#include "tcp_sockets.hpp"

namespace chorale::bootstrap {

struct tcp_id_contents {
  static constexpr std::size_t most_addresses = 6;
  static constexpr std::uint64_t known_magic = 0x31646974'6c726863;
  std::uint64_t magic = known_magic;
  std::array<std::byte, 16> secret{};
  std::uint16_t port = 0;
  std::uint16_t addresses = 0;
  std::uint32_t unused = 0;
  std::array<std::array<std::byte, 16>, most_addresses> raw{};

  /// @throws error errc::invalid_argument if the bytes are not an id.
  [[nodiscard]] static tcp_id_contents of(const tcp_id& id);
  [[nodiscard]] tcp_resolution resolution() const;
};
static_assert(detail::sendable<tcp_id_contents> && sizeof(tcp_id_contents) == sizeof(tcp_id));

/// The listening socket of an id that this process has made, for the first rank that asks; nothing for other
/// ranks. @throws error errc::misuse if the group of the id has been made, or has failed.
[[nodiscard]] std::optional<detail::process_fd> listener_of(const tcp_id_contents& id);
/// The group of the id has been made, or has failed.
void end_id(const tcp_id_contents& id);

}  // namespace chorale::bootstrap
