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

#include "../core/process_fd.hpp"

namespace chorale::bootstrap {

/// An IPv4 or IPv6 address, with a port.
struct tcp_address {
  sockaddr_storage where{};
  socklen_t bytes = 0;

  /// From the 16 bytes of an IPv6 address, which may be a mapped IPv4 address.
  [[nodiscard]] static tcp_address of(std::span<const std::byte, 16> raw, std::uint16_t port) noexcept;
  [[nodiscard]] std::array<std::byte, 16> raw() const noexcept;
  /// "10.0.0.1:29500", "[::1]:29500".
  [[nodiscard]] std::string text() const;
};

/// A host and a port, as users write them: "node1:29500", "10.0.0.1:29500", "[::1]:29500".
struct tcp_place {
  std::string host;
  std::uint16_t port = 0;

  /// @throws error errc::invalid_argument
  [[nodiscard]] static tcp_place read(std::string_view text);
  [[nodiscard]] std::string text() const;
};

/// The addresses of a place; if there are none, `why` tells the reason.
struct tcp_resolution {
  std::vector<tcp_address> addresses;
  std::string why;
};
/// Asks the system's resolver, which may take long.
[[nodiscard]] tcp_resolution resolve(const tcp_place& place);

/// Listens at that address if it is written in numbers and belongs to this host, or is "localhost"; otherwise
/// at all addresses of this host, since a name may be that of a service in front of it. Port 0: any. @throws
/// error with the errno
[[nodiscard]] detail::process_fd listen_at(const tcp_place& place);
[[nodiscard]] std::uint16_t port_of(int listener) noexcept;
/// The addresses by which other hosts may reach this one, at most `most`, as in `tcp_address::of`; the
/// loopback address if there are no others.
[[nodiscard]] std::vector<std::array<std::byte, 16>> addresses_of_this_host(std::size_t most);

/// The next incoming connection, and its address in `from`; -1 if none is waiting. @throws error with the
/// errno
[[nodiscard]] detail::process_fd accept_from(int listener, std::string& from);
/// Begins to connect. Returns -1 with errno on failure.
[[nodiscard]] detail::process_fd connect_to(const tcp_address& address) noexcept;
/// 0 if the connection is established, otherwise the errno.
[[nodiscard]] int error_of_connection(int socket) noexcept;
/// Ends the connection for the other side, even if a child of fork() holds a copy. What was sent still
/// arrives.
void end_connection(int socket) noexcept;

enum class tcp_moved : std::uint8_t { some, none, closed };
/// A size for the buffer of `receive_some`.
constexpr std::size_t tcp_room = 65536;
/// Receives up to `to.size()` bytes into `to`. `errnum`: why the connection is closed; 0: by the other side.
tcp_moved receive_some(int socket, std::span<std::byte> to, std::size_t& bytes, int& errnum) noexcept;
tcp_moved send_some(int socket, std::span<const std::byte> from, std::size_t& bytes, int& errnum) noexcept;

/// A socket that is waited for, and whether it can be used.
struct tcp_watched {
  int socket;
  bool writes;
  bool is_readable = false;
  bool is_writable = false;
};
/// Waits until one of the sockets can be used, for at most `longest`, or until a signal arrives.
void await_any(std::span<tcp_watched> sockets, clock::duration longest);

}  // namespace chorale::bootstrap
