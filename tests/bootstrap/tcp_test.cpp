// SPDX-License-Identifier: Apache-2.0
// bootstrap::tcp over sockets of this host, with threads as ranks.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <functional>
#include <netinet/in.h>
#include <optional>
#include <set>
#include <signal.h>
#include <span>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <chorale/bootstrap/tcp.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>

#include "../support/expect.hpp"
#include "bootstrap/tcp_client.hpp"
#include "bootstrap/tcp_server.hpp"

using namespace std::chrono_literals;
using chorale::errc;
using chorale::bootstrap::cards;
using chorale::bootstrap::tcp;
using chorale::bootstrap::tcp_id;
using chorale::bootstrap::tcp_options;
using support::expect;

namespace {

/// For groups that must succeed, however busy the machine is.
const tcp_options patient{.secret = "known", .deadline = 60s};

/// Runs `body` as each rank; the error of each. @throws whatever else a body throws.
std::vector<std::optional<chorale::error>> run(int size, const std::function<void(int)>& body) {
  std::vector<std::optional<chorale::error>> errors(static_cast<std::size_t>(size));
  std::vector<std::exception_ptr> others(errors.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < errors.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        errors[i] = support::error_of([&] { body(static_cast<int>(i)); });
      } catch (...) {
        others[i] = std::current_exception();
      }
    });
  for (auto& t : threads) t.join();
  for (const auto& e : others)
    if (e) std::rethrow_exception(e);
  return errors;
}

/// As `run`; none may fail.
void succeed(int size, const std::function<void(int)>& body) {
  for (const auto& e : run(size, body))
    if (e) throw std::runtime_error(e->what());
}

/// An error must be of `code`, and have all of `words`.
void require(const std::optional<chorale::error>& e, std::error_code code,
             const std::vector<std::string>& words) {
  expect(e.has_value(), "there is no error: " + words.front());
  const std::string text = e->what();
  expect(e->code() == code, "another code: " + text);
  for (const std::string& word : words)
    expect(text.find(word) != std::string::npos, "'" + word + "' is missing in: " + text);
}

/// A port at which nothing listens at the moment.
int free_port() {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof here;
  REQUIRE(::bind(s, reinterpret_cast<sockaddr*>(&here), sizeof here) == 0);
  REQUIRE(::getsockname(s, reinterpret_cast<sockaddr*>(&here), &bytes) == 0);
  ::close(s);
  return ntohs(here.sin_port);
}

/// A client unrelated to Chorale; -1 if no process listens.
int stranger(int port, std::string_view says) {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  there.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::connect(s, reinterpret_cast<sockaddr*>(&there), sizeof there) != 0) {
    ::close(s);
    return -1;
  }
  static_cast<void>(::send(s, says.data(), says.size(), MSG_NOSIGNAL));
  return s;
}

std::vector<std::byte> card_of(int rank, int round) {
  std::vector<std::byte> card(
      static_cast<std::size_t>((rank * 7919 + round * 104729) % (round % 3 == 0 ? 65537 : 300)));
  for (std::size_t i = 0; i < card.size(); ++i)
    card[i] = static_cast<std::byte>(static_cast<std::size_t>(rank + round) + i * 31);
  return card;
}

void exchange_and_compare(tcp& group, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const cards all = group.exchange(card_of(group.rank(), round), 60s);
    expect(all.size() == static_cast<std::size_t>(group.size()), "another number of cards than ranks");
    for (int rank = 0; rank < group.size(); ++rank)
      expect(all[static_cast<std::size_t>(rank)] == card_of(rank, round),
             fmt::format("another card of rank {}", rank));
  }
}

bool has_ipv6() {
  const int s = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 here{};
  here.sin6_family = AF_INET6;
  here.sin6_addr = in6addr_loopback;
  const bool can = s >= 0 && ::bind(s, reinterpret_cast<sockaddr*>(&here), sizeof here) == 0;
  if (s >= 0) ::close(s);
  return can;
}

}  // namespace

TEST_CASE("ranks meet by an id, and exchange again and again", "[bootstrap]") {
  const int size = GENERATE(1, 2, 3, 5, 7, 13, 17, 33);
  CAPTURE(size);
  const tcp_id made = tcp_id::make();
  std::vector<std::string> jobs(static_cast<std::size_t>(size));
  std::vector<int> locals(static_cast<std::size_t>(size));
  succeed(size, [&](int rank) {
    tcp_id brought;
    std::memcpy(&brought, &made, sizeof made);
    tcp group{rank, size, brought, patient};
    expect(group.rank() == rank && group.size() == size, "another rank or size");
    exchange_and_compare(group, 4);
    jobs[static_cast<std::size_t>(rank)] = group.job();
    locals[static_cast<std::size_t>(rank)] = group.local_rank();
  });
  CHECK(std::set<std::string>{jobs.begin(), jobs.end()}.size() == 1);
  for (int rank = 0; rank < size; ++rank) CHECK(locals[static_cast<std::size_t>(rank)] == rank);
  require(support::error_of([&] { tcp{0, size, made, patient}; }), errc::misuse, {"has been used"});
}

TEST_CASE("ranks meet at an address, of either family, when rank 0 is late", "[bootstrap]") {
  const std::string host = GENERATE("127.0.0.1", "localhost", "[::1]");
  if (host == "[::1]" && !has_ipv6()) {
    WARN("skipped: this host has no IPv6");
    return;
  }
  const std::string address = fmt::format("{}:{}", host, free_port());
  succeed(3, [&](int rank) {
    if (rank == 0) chorale::clock::sleep_for(50ms);
    // Again at the same address, as by a program with several communicators.
    for (int i = 0; i < 5; ++i) {
      tcp group{rank, 3, address, patient};
      exchange_and_compare(group, i);
    }
  });
}

TEST_CASE("strangers at the port do not keep a job from starting", "[bootstrap]") {
  const int port = free_port();
  const std::string address = fmt::format("127.0.0.1:{}", port);
  std::vector<int> strangers;
  succeed(3, [&](int rank) {
    if (rank == 1) {
      support::await("rank 0 listens", [&] {
        strangers.push_back(stranger(port, ""));
        return strangers.back() >= 0;
      });
      strangers.push_back(stranger(port, "GET / HTTP/1.1\r\nHost: here\r\n\r\n"));
      strangers.push_back(stranger(port, "chorale\n"));
      for (int i = 0; i < 200; ++i) strangers.push_back(stranger(port, ""));
    }
    if (rank == 2)
      require(support::error_of([&] {
                tcp{2, 3, address, {.secret = "guessed", .deadline = 60s}};
              }),
              errc::bootstrap_failed,
              {"is not of this job", "its secret is another one", "CHORALE_TCP_SECRET"});
    tcp group{rank, 3, address, patient};
    exchange_and_compare(group, 2);
  });
  for (const int s : strangers)
    if (s >= 0) ::close(s);
}

TEST_CASE("errors of meeting name ranks, addresses and remedies", "[bootstrap]") {
  const std::string address = fmt::format("127.0.0.1:{}", free_port());
  const tcp_options hurried{.secret = "known", .deadline = 300ms};
  SECTION("a rank that does not come") {
    const auto errors = run(3, [&](int rank) {
      if (rank != 2) tcp{rank, 3, address, rank == 0 ? hurried : patient};
    });
    for (const int rank : {0, 1}) {
      const auto& e = errors[static_cast<std::size_t>(rank)];
      require(e, errc::bootstrap_failed,
              {fmt::format("on rank {}", rank), "rank 0 has waited", "rank 2 of 3 has not come"});
      CHECK(e->ranks() == std::vector<int>{2});
    }
  }
  SECTION("rank 0 does not come") {
    require(support::error_of([&] {
              tcp{1, 2, address, hurried};
            }),
            errc::bootstrap_failed, {"on rank 1", address, "Connection refused", "start all ranks"});
  }
  SECTION("the address is of something else") {
    const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof here;
    REQUIRE((::bind(s, reinterpret_cast<sockaddr*>(&here), sizeof here) == 0 && ::listen(s, 5) == 0));
    REQUIRE(::getsockname(s, reinterpret_cast<sockaddr*>(&here), &bytes) == 0);
    const std::string taken = fmt::format("127.0.0.1:{}", ntohs(here.sin_port));
    require(support::error_of([&] {
              tcp{1, 2, taken, hurried};
            }),
            errc::bootstrap_failed, {taken, "it accepts connections, but sends nothing"});
    const auto e = support::error_of([&] { tcp{0, 2, taken, hurried}; });
    require(e, std::make_error_code(std::errc::address_in_use), {"MASTER_PORT"});
    ::close(s);
  }
  SECTION("a name that does not resolve") {
    require(support::error_of([&] {
              tcp{1, 2, "there-is-no-such-host.invalid:29500", hurried};
            }),
            errc::bootstrap_failed, {"'there-is-no-such-host.invalid' does not resolve"});
  }
  SECTION("two ranks of one number") {
    for (const auto& e : run(3, [&](int rank) { tcp{rank == 2 ? 1 : rank, 3, address, patient}; }))
      require(e, errc::bootstrap_failed, {"two processes say that they are rank 1", "(RANK)"});
  }
  SECTION("two sizes") {
    for (const auto& e : run(2, [&](int rank) { tcp{rank, 2 + rank, address, patient}; }))
      require(e, errc::bootstrap_failed, {"says that there are 3 ranks", "(WORLD_SIZE)"});
  }
  SECTION("arguments") {
    for (const int rank : {-1, 2, 3})
      require(support::error_of([&] {
                tcp{rank, 2, address, hurried};
              }),
              errc::invalid_argument, {fmt::format("rank {} of 2", rank)});
    for (const char* text :
         {"", "node", "node:", ":1", "node:0", "node:65536", "node:1x", "::1:5", "[::1]", "[node]:5"})
      require(support::error_of([&] { tcp{0, 2, text, hurried}; }), errc::invalid_argument, {"HOST:PORT"});
    require(support::error_of([&] { tcp{0, 2, tcp_id{}, hurried}; }), errc::invalid_argument, {"no tcp_id"});
  }
}

TEST_CASE("a rank that is refused at one address begins anew at the others", "[bootstrap]") {
  using chorale::bootstrap::tcp_address;
  const auto port = static_cast<std::uint16_t>(free_port());
  const auto bytes_of = [](std::string_view text) { return std::as_bytes(std::span{text}); };
  const auto claim_of = [](int rank) { return chorale::bootstrap::tcp_claim::of_this_process(rank, 2); };
  chorale::bootstrap::tcp_server root{claim_of(0), bytes_of("known"),
                                      chorale::bootstrap::listen_at({"", port})};
  // Both addresses, of the prefix of mapped ones, are of this host: the root greets at each of them.
  const auto address = [&](int last) {
    std::array<std::byte, 16> raw{};
    raw[10] = raw[11] = std::byte{0xff};
    raw[12] = std::byte{127};
    raw[15] = static_cast<std::byte>(last);
    return tcp_address::of(raw, port);
  };
  chorale::bootstrap::tcp_client member{
      claim_of(1), bytes_of("another"),
      [&] {
        return chorale::bootstrap::tcp_resolution{{address(1), address(2)}, {}};
      },
      "a host with two addresses"};
  const auto end = chorale::clock::now() + 60s;
  while (!member.failure() && chorale::clock::now() < end) {
    root.step(1ms);
    member.step(1ms);
  }
  REQUIRE(member.failure());
  CHECK(member.failure()->text.find("secret") != std::string::npos);
}

TEST_CASE("errors of exchanges name ranks", "[bootstrap]") {
  const tcp_id id = tcp_id::make();
  SECTION("a rank that does not exchange") {
    const std::string address = fmt::format("127.0.0.1:{}", free_port());
    std::atomic<bool> is_over = false;
    const auto errors = run(3, [&](int rank) {
      tcp group{rank, 3, address, patient};
      if (rank == 1) return support::await("the others have failed", [&] { return is_over.load(); });
      const auto e = support::error_of([&] { group.exchange({}, rank == 2 ? 200ms : 60s); });
      require(e, errc::bootstrap_failed, {"1 of 3 has", "not made this exchange"});
      const auto again = support::error_of([&] { group.exchange({}, 60s); });
      require(again, errc::bootstrap_failed, {"this group has failed before"});
      if (rank == 2) is_over = true;
    });
  }
  SECTION("a rank that has ended") {
    for (const auto& e : run(3, [&](int rank) {
           tcp group{rank, 3, id, patient};
           exchange_and_compare(group, 2);
           if (rank != 1) group.exchange({}, 60s);
         }))
      if (e) require(e, errc::bootstrap_failed, {"has ended, or was killed", "the same communicators"});
  }
  SECTION("a card that is too long") {
    succeed(2, [&](int rank) {
      tcp group{rank, 2, id, patient};
      support::refused(errc::invalid_argument, {"65536"},
                       [&] { group.exchange(std::vector<std::byte>(65537), 60s); });
      exchange_and_compare(group, 1);
    });
  }
}

TEST_CASE("a child of fork() cannot use its parent's group, and does not disturb it", "[bootstrap]") {
  const tcp_id id = tcp_id::make();
  succeed(2, [&](int rank) {
    tcp group{rank, 2, id, patient};
    if (rank == 0) {
      const pid_t child = ::fork();
      if (child == 0) {
        const auto e = support::error_of([&] { group.exchange({}, 1s); });
        const bool is_refused = e && e->code() == errc::misuse;
        { const tcp ends = std::move(group); }
        ::_exit(is_refused ? 0 : 1);
      }
      int status = -1;
      ::waitpid(child, &status, 0);
      expect(status == 0, "the child could use it");
    }
    exchange_and_compare(group, 2);
  });
}

TEST_CASE("a rank that is killed is missed although its child lives on", "[bootstrap]") {
  const std::string address = fmt::format("127.0.0.1:{}", free_port());
  const pid_t rank_1 = ::fork();
  if (rank_1 == 0) {
    ::setpgid(0, 0);
    tcp group{1, 2, address, patient};
    if (::fork() != 0) static_cast<void>(group.exchange({}, 60s));
    for (;;) ::pause();
  }
  tcp group{0, 2, address, patient};
  static_cast<void>(group.exchange({}, 60s));
  ::kill(rank_1, SIGKILL);
  ::waitpid(rank_1, nullptr, 0);
  const auto e = support::error_of([&] { group.exchange({}, 60s); });
  ::kill(-rank_1, SIGKILL);  // its child
  require(e, errc::bootstrap_failed, {"rank 1"});
  CHECK(std::string{e->what()}.find("after 60000 ms") == std::string::npos);
}

TEST_CASE("sockets are no standard streams, and exec() closes them", "[bootstrap]") {
  const std::string address = fmt::format("127.0.0.1:{}", free_port());
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int stream : {0, 1, 2}) ::close(stream);
    bool is_right = true;
    for (const auto& e : run(3, [&](int rank) {
           tcp group{rank, 3, address, patient};
           group.exchange({}, 60s);
           int sockets = 0;
           for (int fd = 0; fd < 100; ++fd) {
             int type = 0;
             socklen_t bytes = sizeof type;
             if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) != 0 || type != SOCK_STREAM) continue;
             ++sockets;
             expect(fd > 2, "a socket is a standard stream");
             expect((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, "a socket survives exec()");
           }
           expect(sockets >= 2, "no sockets were found");
           group.exchange({}, 60s);
         }))
      is_right = is_right && !e;
    ::_exit(is_right ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}
