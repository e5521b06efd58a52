// SPDX-License-Identifier: Apache-2.0
// The shipped machines: their consistency, and their costs between two hosts.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/simulation/machine/machine.hpp>

#include "simulation/machine/adapter.hpp"
#include "simulation/network/network.hpp"

namespace {

using namespace chorale::simulation;
using namespace std::chrono_literals;

/// One RDMA write, until a polling receiver has seen it.
duration write_time(const machine& of, std::uint64_t bytes) {
  adapter sender{of.adapter, of.network.packets.payload};
  adapter receiver{of.adapter, of.network.packets.payload};
  network net{of.network, static_cast<std::uint32_t>(of.hosts)};
  // The contexts are now cached.
  sender.send({}, {0, 1});
  receiver.receive({}, {0, 1});
  const instant begin{1s};
  const auto& post = of.adapter.posting;
  const auto rung = begin + post.request + post.doorbell;
  const bool is_inline = post.inline_bytes > 0 && bytes <= post.inline_bytes;
  const auto leaves = sender.send(rung, {bytes, 1, service::connected, !is_inline});
  const auto comes = net.carry({0, bytes, service::connected, leaves.first, leaves.last}, 1);
  return receiver.receive(comes, {bytes, 1}).seen + of.host.notice - begin;
}

/// One send that takes a receive request and is polled from a completion queue; or one multicast.
duration send_time(const machine& of, service kind, bool to_all) {
  adapter sender{of.adapter, of.network.packets.payload};
  adapter receiver{of.adapter, of.network.packets.payload};
  network net{of.network, static_cast<std::uint32_t>(of.hosts)};
  sender.send({}, {0, 1});
  receiver.receive({}, {0, 1});
  const instant begin{1s};
  const auto& post = of.adapter.posting;
  auto rung = begin + post.request + post.doorbell;
  if (kind == service::datagram) rung += post.address;
  const auto leaves = sender.send(rung, {1, 1, kind, post.inline_bytes == 0});
  const message what{0, 1, kind, leaves.first, leaves.last};
  std::vector<host_number> all;
  for (host_number host = 1; host <= (to_all ? 7U : 1U); ++host) all.push_back(host);
  const auto comes = to_all ? net.multicast(what, all, 0).back() : net.carry(what, 1);
  const auto placed = receiver.receive(comes, {1, 1, kind, true, false});
  return placed.completed + of.host.notice + post.poll + post.completion - begin;
}

TEST_CASE("Every shipped machine can be read, and gives a source for each number", "[machine]") {
  const auto names = machine_names();
  CHECK(names.size() == 8);
  for (const auto& name : names) {
    INFO(name);
    const auto one = read_machine(name);
    CHECK(one.name == name);
    CHECK(one.hosts > 1);
    CHECK(one.sources.size() > 50);
    CHECK(write_time(one, 8) > 0ns);
    CHECK(send_time(one, service::connected, false) > write_time(one, 1));
  }
}

TEST_CASE("A processor copies and combines at a rate of its time", "[machine]") {
  for (const auto& name : machine_names()) {
    INFO(name);
    const auto m = read_machine(name);
    // From memory to memory: 300 MB/s of 2003 to 30 GB/s of today; operators up to three times as long.
    constexpr std::size_t bytes = 8'000'000;
    CHECK(m.host.copy(bytes) > 250us);
    CHECK(m.host.copy(bytes) < 27ms);
    CHECK(m.host.combine(bytes) >= m.host.copy(bytes));
    CHECK(m.host.combine(bytes) <= 3 * m.host.copy(bytes));
    // Bytes that an adapter wrote are not copied faster than others.
    if (!m.host.copy_received.steps().empty()) CHECK(m.host.copy_received(4096) > m.host.copy(4096));
  }
}

TEST_CASE("cLAN has the costs of P2's parameters", "[machine]") {
  const auto clan = read_machine("clan2003");
  // Td + 2 (Ts + Tn), and Tt a byte. P2 does not count the receiver's notice, 0.2 us.
  const auto notice = clan.host.notice;
  CHECK(write_time(clan, 0) == 600ns + 2 * (2000ns + 1520ns) + notice);
  CHECK(write_time(clan, 4000) == 600ns + 2 * (2000ns + 1520ns) + 4000 * 10ns + notice);
  CHECK(clan.host.send == 1300ns);
  CHECK(clan.host.copy(1'000'000) > 2699us);
  CHECK(clan.host.copy(1'000'000) < 2701us);
}

TEST_CASE("A multicast of P1's cluster takes the time that P1 measured", "[machine]") {
  const auto cluster = read_machine("infinihost-pcix-8");
  const auto one = send_time(cluster, service::datagram, false);
  const auto seven = send_time(cluster, service::datagram, true);
  CHECK(one > 9500ns);
  CHECK(one < 9700ns);
  CHECK(seven - one > 190ns);
  CHECK(seven - one < 210ns);
}

TEST_CASE("PCI Express is 20 to 30 percent faster than PCI-X for small messages", "[machine]") {
  const auto express = read_machine("infinihost-pcie-16");
  const auto x = read_machine("infinihost-pcix-32");
  for (const std::uint64_t bytes : {8u, 128u}) {
    CHECK(write_time(express, bytes) * 100 > write_time(x, bytes) * 70);
    CHECK(write_time(express, bytes) * 100 < write_time(x, bytes) * 80);
  }
}

TEST_CASE("A short MPI message takes the time measured between two hosts", "[machine]") {
  // Header, a few bytes and trailer; copied on both sides.
  constexpr std::uint64_t bytes = 48;
  const auto by_write = [](const machine& of) {
    return of.host.send + of.host.copy(4) + write_time(of, bytes) + of.host.match + of.host.copy_received(4);
  };
  // 7.5 us by RDMA write, 22 % less than by send and receive (Liu et al., ICS 2003).
  const auto early = read_machine("infinihost-pcix-8");
  CHECK(by_write(early) > 7400ns);
  CHECK(by_write(early) < 7600ns);
  const auto by_send = early.host.send + early.host.copy(4) + send_time(early, service::connected, false) +
                       early.host.receive + early.host.match + early.host.copy_received(4);
  CHECK(by_send > 9300ns);
  CHECK(by_send < 9900ns);
  // 4.1 us over PCI Express (Liu et al., IEEE Micro 2005), with both hosts at one switch chip.
  auto express = read_machine("infinihost-pcie-16");
  express.network.switches.forward = 200ns;
  CHECK(by_write(express) > 4000ns);
  CHECK(by_write(express) < 4200ns);
}

TEST_CASE("A cluster of today sends 32 bytes in 0.83 us", "[machine]") {
  for (const auto* const name : {"hdr-64core", "ndr-64core"}) {
    const auto cluster = read_machine(name);
    CHECK(send_time(cluster, service::connected, false) > 700ns);
    CHECK(send_time(cluster, service::connected, false) < 950ns);
  }
}

}  // namespace
