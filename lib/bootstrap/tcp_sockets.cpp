// SPDX-License-Identifier: Apache-2.0
#include "tcp_sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

#include "../core/helper_thread.hpp"
#include "../core/streams_reserved.hpp"

namespace chorale::bootstrap {
namespace {

constexpr std::array<std::byte, 12> mapped_prefix{
    std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},    std::byte{0},
    std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0xff}, std::byte{0xff}};

tcp_address address_of(const sockaddr* from, socklen_t bytes) noexcept {
  tcp_address address;
  address.bytes = std::min<socklen_t>(bytes, sizeof address.where);
  std::memcpy(&address.where, from, address.bytes);
  return address;
}

const sockaddr* generic(const tcp_address& address) noexcept {
  return reinterpret_cast<const sockaddr*>(&address.where);
}

void set_option(int socket, int level, int option, int value) noexcept {
  static_cast<void>(::setsockopt(socket, level, option, &value, sizeof value));
}

/// Small messages are sent at once, and the death of a host is noticed.
void prepare(int socket) noexcept {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

detail::process_fd new_socket(int family) noexcept {
  return detail::process_fd{detail::above_streams(
      [&] { return ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP); })};
}

/// Returns -1 with errno on failure.
detail::process_fd listener_at(const tcp_address& address) noexcept {
  detail::process_fd listener = new_socket(address.where.ss_family);
  if (listener.get() < 0) return listener;
  set_option(listener.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.where.ss_family == AF_INET6) set_option(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(listener.get(), generic(address), address.bytes) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0) {
    const int why = errno;
    listener.reset();
    errno = why;
  }
  return listener;
}

tcp_address any_address(int family, std::uint16_t port) noexcept {
  if (family == AF_INET6) {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    return address_of(reinterpret_cast<const sockaddr*>(&six), sizeof six);
  }
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  return address_of(reinterpret_cast<const sockaddr*>(&four), sizeof four);
}

tcp_resolution ask_resolver(const tcp_place& place, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(place.port);
  const int status =
      detail::foreign_call([&] { return ::getaddrinfo(place.host.c_str(), port.c_str(), &hints, &found); });
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all{found, ::freeaddrinfo};
  tcp_resolution result;
  if (status != 0) {
    result.why = fmt::format("'{}' does not resolve: {}", place.host,
                             status == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(status));
    return result;
  }
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next)
    if (one->ai_family == AF_INET || one->ai_family == AF_INET6)
      result.addresses.push_back(address_of(one->ai_addr, one->ai_addrlen));
  if (result.addresses.empty()) result.why = fmt::format("'{}' has no address", place.host);
  return result;
}

}  // namespace

tcp_address tcp_address::of(std::span<const std::byte, 16> raw, std::uint16_t port) noexcept {
  tcp_address address;
  if (std::ranges::equal(raw.first(12), mapped_prefix)) {
    address = any_address(AF_INET, port);
    std::memcpy(&reinterpret_cast<sockaddr_in*>(&address.where)->sin_addr, raw.data() + 12, 4);
  } else {
    address = any_address(AF_INET6, port);
    std::memcpy(&reinterpret_cast<sockaddr_in6*>(&address.where)->sin6_addr, raw.data(), 16);
  }
  return address;
}

std::array<std::byte, 16> tcp_address::raw() const noexcept {
  std::array<std::byte, 16> all{};
  if (where.ss_family == AF_INET6) {
    std::memcpy(all.data(), &reinterpret_cast<const sockaddr_in6*>(&where)->sin6_addr, 16);
  } else {
    std::ranges::copy(mapped_prefix, all.begin());
    std::memcpy(all.data() + 12, &reinterpret_cast<const sockaddr_in*>(&where)->sin_addr, 4);
  }
  return all;
}

std::string tcp_address::text() const {
  char host[NI_MAXHOST] = "";
  char port[NI_MAXSERV] = "";
  if (::getnameinfo(generic(*this), bytes, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "an unknown address";
  return where.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

tcp_place tcp_place::read(std::string_view text) {
  const auto colon = text.rfind(':');
  tcp_place place;
  if (colon != std::string_view::npos) {
    std::string_view host = text.substr(0, colon);
    const std::string_view port = text.substr(colon + 1);
    const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (has_brackets) host = host.substr(1, host.size() - 2);
    const auto [end, status] = std::from_chars(port.data(), port.data() + port.size(), place.port);
    if (status == std::errc{} && end == port.data() + port.size() && !host.empty() && place.port != 0 &&
        has_brackets == (host.find(':') != std::string_view::npos)) {
      place.host = host;
      return place;
    }
  }
  throw error(
      errc::invalid_argument,
      fmt::format("bootstrap::tcp: '{}' is no address: write HOST:PORT, or [ADDRESS]:PORT for IPv6, with a "
                  "port of 1 to 65535",
                  text));
}

std::string tcp_place::text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

tcp_resolution resolve(const tcp_place& place) {
  tcp_resolution result = ask_resolver(place, 0);
  // Small containers have no /etc/hosts, but this name always means this host (RFC 6761 section 6.3).
  if (result.addresses.empty() && place.host == "localhost")
    for (const char* const number : {"127.0.0.1", "::1"})
      for (const tcp_address& one : ask_resolver({number, place.port}, AI_NUMERICHOST).addresses)
        result.addresses.push_back(one);
  return result;
}

detail::process_fd listen_at(const tcp_place& place) {
  std::vector<tcp_address> choices;
  if (!place.host.empty())
    choices =
        place.host == "localhost" ? resolve(place).addresses : ask_resolver(place, AI_NUMERICHOST).addresses;
  choices.push_back(any_address(AF_INET6, place.port));
  choices.push_back(any_address(AF_INET, place.port));
  for (const tcp_address& address : choices) {
    detail::process_fd listener = listener_at(address);
    // If the address is that of a router in front of this host, or the kernel has no IPv6: tries the next
    // one.
    if (listener.get() >= 0) return listener;
    if (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT) break;
  }
  throw_errno(errno, "bootstrap::tcp: bind",
              fmt::format("port {}, where the other ranks are to connect", place.port),
              errno == EADDRINUSE
                  ? "another job has it, or a second process of this one is rank 0, too: choose another port "
                    "(MASTER_PORT or CHORALE_TCP_PORT), the same for all ranks"
                  : "choose a port that this user may listen at, from 1024 on");
}

std::uint16_t port_of(int listener) noexcept {
  sockaddr_storage here{};
  socklen_t bytes = sizeof here;
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&here), &bytes) != 0) return 0;
  return ntohs(here.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&here)->sin6_port
                                          : reinterpret_cast<const sockaddr_in*>(&here)->sin_port);
}

std::vector<std::array<std::byte, 16>> addresses_of_this_host(std::size_t most) {
  ifaddrs* found = nullptr;
  if (detail::above_streams([&] { return ::getifaddrs(&found); }) != 0) found = nullptr;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all{found, [](ifaddrs* list) {
                                                           if (list != nullptr) ::freeifaddrs(list);
                                                         }};
  std::vector<std::array<std::byte, 16>> others;
  for (const ifaddrs* one = found; one != nullptr && others.size() < most; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const tcp_address address =
        address_of(one->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    const auto raw = address.raw();
    // A link-local address means nothing without the name of an interface.
    if (family == AF_INET6 && raw[0] == std::byte{0xfe} && (raw[1] & std::byte{0xc0}) == std::byte{0x80})
      continue;
    others.push_back(raw);
  }
  if (others.empty()) {
    tcp_address loopback = any_address(AF_INET, 0);
    reinterpret_cast<sockaddr_in*>(&loopback.where)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    others.push_back(loopback.raw());
  }
  return others;
}

detail::process_fd accept_from(int listener, std::string& from) {
  tcp_address theirs;
  theirs.bytes = sizeof theirs.where;
  detail::process_fd socket{detail::above_streams([&] {
    return ::accept4(listener, reinterpret_cast<sockaddr*>(&theirs.where), &theirs.bytes,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);
  })};
  if (socket.get() >= 0) {
    prepare(socket.get());
    from = theirs.text();
  } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
    throw_errno(errno, "bootstrap::tcp: accept", "the connection of another rank",
                "rank 0 needs a file descriptor for each rank: raise the limit of open files (ulimit -n)");
  }
  return socket;
}

detail::process_fd connect_to(const tcp_address& address) noexcept {
  detail::process_fd socket = new_socket(address.where.ss_family);
  if (socket.get() < 0) return socket;
  prepare(socket.get());
  if (::connect(socket.get(), generic(address), address.bytes) != 0 && errno != EINPROGRESS &&
      errno != EINTR) {
    const int why = errno;
    socket.reset();
    errno = why;
  }
  return socket;
}

int error_of_connection(int socket) noexcept {
  int why = 0;
  socklen_t bytes = sizeof why;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &why, &bytes) == 0 ? why : errno;
}

void end_connection(int socket) noexcept {
  static_cast<void>(::shutdown(socket, SHUT_WR));
}

tcp_moved receive_some(int socket, std::span<std::byte> to, std::size_t& bytes, int& errnum) noexcept {
  const ssize_t got = ::recv(socket, to.data(), to.size(), MSG_DONTWAIT);
  errnum = got < 0 ? errno : 0;
  bytes = got > 0 ? static_cast<std::size_t>(got) : 0;
  if (got > 0) return tcp_moved::some;
  return errnum == EAGAIN || errnum == EWOULDBLOCK || errnum == EINTR ? tcp_moved::none : tcp_moved::closed;
}

tcp_moved send_some(int socket, std::span<const std::byte> from, std::size_t& bytes, int& errnum) noexcept {
  const ssize_t went = ::send(socket, from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  errnum = went < 0 ? errno : 0;
  bytes = went > 0 ? static_cast<std::size_t>(went) : 0;
  if (went >= 0) return tcp_moved::some;
  return errnum == EAGAIN || errnum == EWOULDBLOCK || errnum == EINTR ? tcp_moved::none : tcp_moved::closed;
}

void await_any(std::span<tcp_watched> sockets, clock::duration longest) {
  std::vector<pollfd> all;
  all.reserve(sockets.size());
  for (const tcp_watched& one : sockets)
    all.push_back({one.socket, static_cast<short>(one.writes ? POLLIN | POLLOUT : POLLIN), 0});
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::max(longest, clock::duration::zero()));
  if (::poll(all.data(), all.size(), static_cast<int>(left.count())) <= 0) return;
  for (std::size_t i = 0; i < all.size(); ++i) {
    sockets[i].is_readable = (all[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
    sockets[i].is_writable = (all[i].revents & (POLLOUT | POLLHUP | POLLERR)) != 0;
  }
}

}  // namespace chorale::bootstrap
