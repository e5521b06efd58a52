// SPDX-License-Identifier: Apache-2.0
// Arrival times of messages, against times computed by hand; and sums over links that do not depend on times.
#include "simulation/network/network.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "../support/seed.hpp"

namespace {

using namespace chorale::simulation;
using namespace std::chrono_literals;

instant at(duration time) {
  return instant{time};
}

/// A byte takes 1 ns on each link; cables 10 ns, switches 100 ns. Packets of 1,000 bytes without headers.
network_costs plain(topology shape) {
  network_costs costs;
  costs.shape = std::move(shape);
  costs.host_link = {byte_cost::rate(1'000'000'000), 10ns};
  costs.switch_link = costs.host_link;
  costs.global_link = costs.host_link;
  costs.switches.forward = 100ns;
  costs.switches.replicate = 5ns;
  costs.packets.payload = 1000;
  return costs;
}

message from(host_number host, std::uint64_t bytes, duration leaves = {}) {
  return {host, bytes, service::connected, at(leaves), at(leaves)};
}

TEST_CASE("An idle network: its delays, and the time of the bytes once", "[network]") {
  network net{plain(one_switch{4}), 4};
  // 10 ns to the switch, 100 ns through it, 10 ns to the host; the last byte 500 ns after the first.
  CHECK(net.carry(from(0, 500), 1) == arrival{at(120ns), at(620ns)});
  CHECK(net.carry(from(2, 0), 3) == arrival{at(120ns), at(120ns)});
}

TEST_CASE("Each switch on the way adds its delay and that of a cable", "[network]") {
  network net{plain(fat_tree{{2, 2, 2}, {2, 2}}), 8};
  CHECK(net.carry(from(0, 500), 1).first == at(120ns));
  CHECK(net.carry(from(0, 500, 1us), 2).first == at(1us + 340ns));
  CHECK(net.carry(from(0, 500, 2us), 4) == arrival{at(2us + 560ns), at(2us + 1060ns)});
}

TEST_CASE("Each kind of link has its own delay", "[network]") {
  auto costs = plain(dragonfly{3, 2, 1, 1});
  costs.switch_link.delay = 20ns;
  costs.global_link.delay = 300ns;
  network net{costs, 6};
  // Links of group 0: switch 0 to group 1, switch 1 to group 2; of group 1: switch 1 to group 0.
  CHECK(net.carry(from(0, 0), 3).first == at(10ns + 100ns + 300ns + 100ns + 10ns));
  CHECK(net.carry(from(0, 0, 1us), 1).first == at(1us + 10ns + 100ns + 20ns + 100ns + 10ns));
}

TEST_CASE("The slowest link determines when the last byte arrives", "[network]") {
  auto costs = plain(fat_tree{{2, 2}, {1}});
  costs.switch_link.rate = byte_cost::rate(100'000'000);  // 10 ns a byte
  network net{costs, 4};
  // The slow links spread the message over 1,000 ns; later links add no delay.
  CHECK(net.carry(from(0, 100), 2) == arrival{at(340ns), at(340ns + 1000ns)});
}

TEST_CASE("A message whose bytes come slowly arrives slowly", "[network]") {
  network net{plain(one_switch{2}), 2};
  CHECK(net.carry({0, 500, service::connected, at(0ns), at(3us)}, 1) == arrival{at(120ns), at(3us + 120ns)});
}

TEST_CASE("Switches that wait for whole packets add the time of one at each", "[network]") {
  auto costs = plain(fat_tree{{2, 2}, {1}});
  costs.switches.whole_packets = true;
  network net{costs, 4};
  // Three switches; of 2,500 bytes the first packet has 1,000, the last 500.
  CHECK(net.carry(from(0, 2500), 2) == arrival{at(340ns + 3 * 1000ns), at(340ns + 3 * 1000ns + 2500ns)});
  CHECK(net.carry(from(1, 10, 100us), 3) == arrival{at(100us + 340ns + 30ns), at(100us + 340ns + 40ns)});
  // With 2,000 bytes the last packet is a full one.
  CHECK(net.carry(from(0, 2000, 200us), 2).last == at(200us + 340ns + 3 * 1000ns + 2000ns));
  CHECK(net.carry({0, 2000, service::connected, at(300us), at(310us)}, 2).last ==
        at(310us + 340ns + 3 * 1000ns));
}

TEST_CASE("Headers are bytes of each packet", "[network]") {
  auto costs = plain(one_switch{2});
  costs.packets = {1000, 30, 70};
  network net{costs, 2};
  CHECK(net.bytes_on_link(0, service::connected) == 30);
  CHECK(net.bytes_on_link(1000, service::connected) == 1030);
  CHECK(net.bytes_on_link(1001, service::connected) == 1061);
  CHECK(net.bytes_on_link(10, service::datagram) == 80);
  CHECK(net.carry(from(0, 1001), 1).last == at(120ns + 1061ns));
}

TEST_CASE("Two senders to one host share its link", "[network]") {
  network net{plain(one_switch{4}), 4};
  CHECK(net.carry(from(0, 1000), 2) == arrival{at(120ns), at(1120ns)});
  CHECK(net.carry(from(1, 1000), 2) == arrival{at(1120ns), at(2120ns)});
  // Another receiver has a link of its own.
  CHECK(net.carry(from(3, 1000), 1) == arrival{at(120ns), at(1120ns)});
}

TEST_CASE("One sender's messages leave one after the other", "[network]") {
  network net{plain(one_switch{4}), 4};
  CHECK(net.carry(from(0, 1000), 1) == arrival{at(120ns), at(1120ns)});
  CHECK(net.carry(from(0, 1000), 2) == arrival{at(1120ns), at(2120ns)});
}

TEST_CASE("The message that reaches a link first goes first, whichever asked first", "[network]") {
  network net{plain(one_switch{4}), 4};
  // Host 0 sends much to 1, then to 2; host 3's message is there long before.
  net.carry(from(0, 100'000), 1);
  CHECK(net.carry(from(0, 1000), 2).first == at(100us + 120ns));
  CHECK(net.carry(from(3, 1000), 2) == arrival{at(120ns), at(1120ns)});
}

TEST_CASE("Messages of the same two hosts do not overtake each other", "[network]") {
  network net{plain(fat_tree{{2, 2}, {1}}), 4};
  // The link into host 3 is free for 500 bytes until another sender's message comes.
  CHECK(net.carry(from(2, 3000, 600ns), 3) == arrival{at(720ns), at(3720ns)});
  const auto first = net.carry(from(0, 900), 3);
  CHECK(first.first == at(3720ns));
  const auto second = net.carry(from(0, 10), 3);
  CHECK(second.first >= first.last);
  // A datagram from another host takes the gap.
  CHECK(net.carry(from(1, 10, 50ns), 2).last < first.first);
}

TEST_CASE("From a host to itself no link is used, and order is kept", "[network]") {
  network net{plain(one_switch{2}), 2};
  CHECK(net.carry(from(0, 500), 0) == arrival{at(0ns), at(500ns)});
  CHECK(net.carry(from(0, 10, 100ns), 0) == arrival{at(500ns), at(510ns)});
  CHECK(net.loads().empty());
}

/// The time when all of `pairs` have received a message of `bytes`, sent at once.
duration time_of(network& net, const std::vector<std::pair<host_number, host_number>>& pairs,
                 std::uint64_t bytes) {
  instant last{};
  for (const auto& [a, b] : pairs) last = std::max(last, net.carry(from(a, bytes), b).last);
  return last.time_since_epoch();
}

TEST_CASE("A taper of two halves the bandwidth of the middle", "[network]") {
  std::vector<std::pair<host_number, host_number>> across;
  for (host_number host = 0; host < 8; ++host) across.emplace_back(host, host + 8);
  network full{plain(fat_tree{{8, 2}, {8}}), 16};
  network half{plain(fat_tree{{8, 2}, {4}}), 16};
  CHECK(time_of(full, across, 1'000'000) == 340ns + 1ms);
  CHECK(time_of(half, across, 1'000'000) == 340ns + 2ms);
  // Within a leaf the taper does not matter.
  std::vector<std::pair<host_number, host_number>> within;
  for (host_number host = 0; host < 8; ++host) within.emplace_back(host, host ^ 1U);
  network tapered{plain(fat_tree{{8, 2}, {4}}), 16};
  CHECK(time_of(tapered, within, 1'000'000) == 120ns + 1ms);
}

TEST_CASE("A multicast goes over each link once, and its copies leave a switch in turn", "[network]") {
  network net{plain(fat_tree{{4, 2}, {2}}), 8};
  const std::vector<host_number> all{1, 2, 3, 4, 5, 6, 7};
  const auto arrivals = net.multicast({0, 100, service::datagram, at(0ns), at(0ns)}, all, 3);
  REQUIRE(arrivals.size() == 7);
  // The leaf's copies: to hosts 1 to 3 in turn, then upwards; three switches to the other leaf.
  for (host_number host = 1; host <= 3; ++host)
    CHECK(arrivals[host - 1].first == at(120ns + 5ns * (host - 1)));
  for (host_number host = 4; host <= 7; ++host)
    CHECK(arrivals[host - 1].first == at(340ns + 15ns + 5ns * (host - 4)));
  for (const auto& one : arrivals) CHECK(one.last - one.first == 100ns);
  // Out, up, down, and in to seven hosts.
  const auto loads = net.loads();
  CHECK(loads.size() == 10);
  CHECK(std::all_of(loads.begin(), loads.end(), [](const link_load& one) { return one.bytes == 100; }));
}

TEST_CASE("A multicast to all but the sender takes as long as a message to one, plus the copies",
          "[network]") {
  auto costs = plain(one_switch{8});
  costs.switches.replicate = 0ns;
  network net{costs, 8};
  const std::vector<host_number> all{1, 2, 3, 4, 5, 6, 7};
  for (const auto& one : net.multicast({0, 1, service::datagram, at(0ns), at(0ns)}, all, 0))
    CHECK(one == arrival{at(120ns), at(121ns)});
}

/// The arrivals of random messages.
std::vector<arrival> random_messages(network& net, std::uint64_t seed, bool forgets,
                                     std::uint64_t& byte_links) {
  std::mt19937_64 draw{seed};
  std::vector<arrival> arrivals;
  duration now{};
  for (int i = 0; i < 2000; ++i) {
    now += duration{static_cast<std::int64_t>(draw() % 200'000)};
    if (forgets) net.forget(at(now));
    const auto a = static_cast<host_number>(draw() % net.hosts());
    const auto b = static_cast<host_number>(draw() % net.hosts());
    const auto bytes = draw() % (draw() % 8 == 0 ? 20'000 : 100);
    byte_links += net.way(a, b).size() * net.bytes_on_link(bytes, service::connected);
    arrivals.push_back(net.carry(from(a, bytes, now), b));
  }
  return arrivals;
}

TEST_CASE("On every topology: each link's bytes are counted, and arrivals are reproducible", "[network]") {
  const std::vector<topology> shapes{one_switch{24}, fat_tree{{4, 3, 2}, {2, 3}}, torus{{3, 4}, 2},
                                     dragonfly{4, 3, 2, 1}};
  for (const auto& shape : shapes) {
    INFO("shape " << shape.index());
    auto costs = plain(shape);
    costs.packets = {512, 26, 60};
    network net{costs, 24};
    network again{costs, 24};
    network keeps_all{costs, 24};
    std::uint64_t byte_links = 0;
    std::uint64_t ignored = 0;
    const auto seed = support::seed();
    const auto arrivals = random_messages(net, seed, true, byte_links);
    CHECK(random_messages(again, seed, true, ignored) == arrivals);
    CHECK(random_messages(keeps_all, seed, false, ignored) == arrivals);
    std::uint64_t sum = 0;
    for (const auto& load : net.loads()) {
      sum += load.bytes;
      CHECK(load.taken == byte_cost::rate(1'000'000'000)(load.bytes));
    }
    CHECK(sum == byte_links);
  }
}

TEST_CASE("No message arrives sooner than in an empty network", "[network]") {
  auto costs = plain(torus{{4, 3}, 2});
  network net{costs, 24};
  std::mt19937_64 draw{support::seed()};
  std::map<std::pair<host_number, host_number>, instant> last;
  duration now{};
  for (int i = 0; i < 5000; ++i) {
    now += duration{static_cast<std::int64_t>(draw() % 50'000)};
    const auto a = static_cast<host_number>(draw() % 24);
    const auto b = static_cast<host_number>(draw() % 24);
    const auto bytes = draw() % 1500;
    network empty{costs, 24};
    const auto best = empty.carry(from(a, bytes, now), b);
    const auto got = net.carry(from(a, bytes, now), b);
    REQUIRE(got.first >= best.first);
    REQUIRE(got.last - got.first >= best.last - best.first);
    auto& before = last[{a, b}];
    REQUIRE(got.first >= before);
    before = got.last;
  }
}

}  // namespace
