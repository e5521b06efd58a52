// SPDX-License-Identifier: Apache-2.0
// The sockets of bootstrap::tcp: none blocks, raises SIGPIPE, is inherited by exec() or is a standard stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

#include <chorale/core/clock.hpp>

#include "../core/unique_fd.hpp"

namespace chorale::bootstrap {

/// Of either family, with a port.
struct tcp_address {
  sockaddr_storage where{};
  socklen_t bytes = 0;

  /// From 16 bytes as of IPv6, in which addresses of IPv4 are mapped.
  [[nodiscard]] static tcp_address of(std::span<const std::byte, 16> raw, std::uint16_t port) noexcept;
  [[nodiscard]] std::array<std::byte, 16> raw() const noexcept;
  /// "10.0.0.1:29500", "[::1]:29500".
  [[nodiscard]] std::string text() const;
};

/// What a user writes: "node1:29500", "10.0.0.1:29500", "[::1]:29500".
struct tcp_place {
  std::string host;
  std::uint16_t port = 0;

  /// @throws error errc::invalid_argument
  [[nodiscard]] static tcp_place read(std::string_view text);
  [[nodiscard]] std::string text() const;
};

/// The addresses of a place; if there are none, `why` says so.
struct tcp_resolution {
  std::vector<tcp_address> addresses;
  std::string why;
};
/// Asks the system's resolver, which may take its time.
[[nodiscard]] tcp_resolution resolve(const tcp_place& place);

/// Listens at that address if it is one of this host, written as a number or as "localhost"; else at all of
/// this host, as names may be of a service in front of it. Port 0: any. @throws error with the errno
[[nodiscard]] detail::unique_fd listen_at(const tcp_place& place);
[[nodiscard]] std::uint16_t port_of(int listener) noexcept;
/// Those by which other hosts may reach this one, at most `most`, as in `tcp_address::of`; the loopback
/// address where there is no other.
[[nodiscard]] std::vector<std::array<std::byte, 16>> addresses_of_this_host(std::size_t most);

/// A connection that has come, and from where; none if none is waiting. @throws error with the errno
[[nodiscard]] detail::unique_fd accept_from(int listener, std::string& from);
/// A connection that has begun. -1 with errno.
[[nodiscard]] detail::unique_fd connect_to(const tcp_address& address) noexcept;
/// 0 once it is established, else the errno.
[[nodiscard]] int error_of_connection(int socket) noexcept;
/// Ends it for the other side, also where a child of fork() holds a copy. What was sent still arrives.
void end_connection(int socket) noexcept;

enum class tcp_moved : std::uint8_t { some, none, closed };
/// Up to `bytes` of them into `to`. `errnum`: why the connection is closed; 0: by the other side.
tcp_moved receive_some(int socket, std::span<std::byte> to, std::size_t& bytes, int& errnum) noexcept;
tcp_moved send_some(int socket, std::span<const std::byte> from, std::size_t& bytes, int& errnum) noexcept;

/// A socket of which one wants to know whether it can be used.
struct tcp_watched {
  int socket;
  bool writes;
  bool is_readable = false;
  bool is_writable = false;
};
/// Waits until one of them can be used, for at most `longest`, or until a signal arrives.
void await_any(std::span<tcp_watched> sockets, clock::duration longest);

}  // namespace chorale::bootstrap
