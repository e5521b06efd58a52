// SPDX-License-Identifier: Apache-2.0
// Messages in an adapter, against times computed by hand.
#include "simulation/machine/adapter.hpp"

#include <chrono>
#include <cstdint>

#include <catch2/catch.hpp>

#include <chorale/simulation/machine/host_costs.hpp>

namespace {

using namespace chorale::simulation;
using namespace std::chrono_literals;

instant at(duration time) {
  return instant{time};
}

/// A byte takes 1 ns on the bus; packets have 1,000 bytes.
adapter_costs plain() {
  adapter_costs costs;
  costs.bus.rate = byte_cost::rate(1'000'000'000);
  costs.sending.start = 300ns;
  costs.sending.fetch = 200ns;
  costs.sending.gap = 50ns;
  costs.sending.packet = 20ns;
  costs.sending.datagram = 15ns;
  costs.receiving.place = 400ns;
  costs.receiving.take = 150ns;
  costs.receiving.shared = 30ns;
  costs.receiving.complete = 70ns;
  costs.receiving.gap = 60ns;
  costs.receiving.packet = 25ns;
  costs.receiving.datagram = 12ns;
  costs.receiving.acknowledge = 80ns;
  return costs;
}

TEST_CASE("A message leaves when its payload has been read, an inline one at once", "[adapter]") {
  adapter one{plain(), 1000};
  const auto read = one.send(at(1us), {100, 1, service::connected, true});
  CHECK(read.first == at(1500ns));
  CHECK(read.last == at(1600ns));
  const auto written = one.send(at(5us), {100, 1, service::connected, false});
  CHECK(written.first == at(5300ns));
  CHECK(written.last == at(5300ns));
  const auto datagram = one.send(at(9us), {100, 1, service::datagram, false});
  CHECK(datagram.first == at(9315ns));
}

TEST_CASE("Messages of one adapter start a gap apart, and further apart after one of several packets",
          "[adapter]") {
  adapter one{plain(), 1000};
  CHECK(one.send(at(0ns), {8, 1, service::connected, false}).first == at(300ns));
  CHECK(one.send(at(0ns), {8, 2, service::connected, false}).first == at(350ns));
  // 1,001 bytes are two packets.
  CHECK(one.send(at(0ns), {1001, 3, service::connected, true}).first == at(600ns));
  CHECK(one.send(at(0ns), {8, 1, service::connected, false}).first == at(470ns));
  // The payload is read over the bus, after those 1,001 bytes.
  CHECK(one.send(at(0ns), {8, 1, service::connected, true}).first == at(1601ns));
}

TEST_CASE("An adapter that sends one message at a time starts the next after the acknowledgement",
          "[adapter]") {
  auto costs = plain();
  costs.sending.alone = {.rate = byte_cost::rate(500'000'000), .acknowledgement = 90ns};
  adapter one{costs, 1000};
  // 300 + 200 ns until it leaves, 2 ns for each of 1,000 bytes, 90 ns until its acknowledgement: then the
  // next.
  CHECK(one.send(at(0ns), {1000, 1, service::connected, true}).first == at(500ns));
  CHECK(one.send(at(0ns), {8, 2, service::connected, false}).first == at(2590ns + 300ns));
  // 300 ns, 16 ns and 90 ns.
  CHECK(one.send(at(0ns), {8, 1, service::connected, false}).first == at(2590ns + 406ns + 300ns));
}

TEST_CASE("A message is visible when it is in memory, then its completion", "[adapter]") {
  adapter one{plain(), 1000};
  const auto write = one.receive({at(1000ns), at(1100ns)}, {100, 1, service::connected, false, false});
  CHECK(write.seen == at(1500ns));
  CHECK(write.answered == at(1180ns));
  const auto send = one.receive({at(5000ns), at(5100ns)}, {100, 1, service::connected, true, false});
  CHECK(send.seen == at(5650ns));
  CHECK(send.completed == at(5720ns));
  const auto shared = one.receive({at(9000ns), at(9100ns)}, {100, 1, service::datagram, true, true});
  CHECK(shared.seen == at(9692ns));
}

TEST_CASE("A bus slower than the link delays arriving messages", "[adapter]") {
  auto costs = plain();
  costs.bus.rate = byte_cost::rate(500'000'000);
  adapter one{costs, 1000};
  const auto first = one.receive({at(0ns), at(1000ns)}, {1000, 1});
  CHECK(first.seen == at(2000ns + 400ns));
  const auto second = one.receive({at(1000ns), at(2000ns)}, {1000, 1});
  CHECK(second.seen == at(4000ns + 400ns));
}

TEST_CASE("Outgoing and arriving messages share a half-duplex bus", "[adapter]") {
  for (const bool half : {false, true}) {
    auto costs = plain();
    costs.bus.half_duplex = half;
    adapter one{costs, 1000};
    CHECK(one.send(at(0ns), {1000, 1, service::connected, true}).last == at(1500ns));
    const auto come = one.receive({at(500ns), at(1500ns)}, {1000, 1});
    CHECK(come.seen == at(half ? 2900ns : 1900ns));
  }
}

TEST_CASE("A context that is not cached is fetched while the adapter stalls", "[adapter]") {
  auto costs = plain();
  costs.contexts = {4, 1us, 1us};
  adapter one{costs, 1000};
  CHECK(one.send(at(0ns), {8, 1, service::connected, false}).first == at(1300ns));
  CHECK(one.send(at(10us), {8, 1, service::connected, false}).first == at(10300ns));
  CHECK(one.send(at(20us), {8, 2, service::connected, false}).first == at(21300ns));
  CHECK(one.send(at(20us), {8, 1, service::connected, false}).first == at(21350ns));
  const auto come = one.receive({at(30us), at(30us)}, {8, 3});
  CHECK(come.seen == at(31us + 8ns + 400ns));
}

TEST_CASE("An adapter that fetches contexts in parallel stalls for less", "[adapter]") {
  auto costs = plain();
  costs.contexts = {4, 1us, 200ns};
  adapter one{costs, 1000};
  CHECK(one.send(at(0ns), {8, 1, service::connected, false}).first == at(1300ns));
  CHECK(one.send(at(0ns), {8, 1, service::connected, false}).first == at(550ns));
}

TEST_CASE("A cache of contexts holds as many as its size says", "[adapter]") {
  context_cache all{0};
  context_cache some{32};
  // The misses of `count` queue pairs, each used once.
  const auto misses = [](context_cache& in, std::uint32_t count) {
    int sum = 0;
    for (std::uint32_t queue_pair = 0; queue_pair < count; ++queue_pair) sum += in.use(queue_pair) ? 0 : 1;
    return sum;
  };
  CHECK(misses(all, 1000) == 0);
  CHECK(misses(some, 8) == 8);
  CHECK(misses(some, 8) == 0);  // eight stay: there is room for 32
  // Ten times the capacity, used cyclically: only those eight are hits, once each.
  CHECK(misses(some, 320) == 312);
  CHECK(misses(some, 320) == 320);
}

TEST_CASE("Memory is registered by call and page", "[adapter]") {
  registration_costs costs{90us, 1us, 40us, 500ns, 4096};
  CHECK(time_to_register(costs, 0) == 90us);
  CHECK(time_to_register(costs, 1) == 91us);
  CHECK(time_to_register(costs, 8192) == 92us);
  CHECK(time_to_deregister(costs, 8193) == 41500ns);
}

TEST_CASE("Rates of real adapters are exact, and rounded up to a picosecond", "[adapter]") {
  CHECK(byte_cost::rate(50'000'000'000)(1) == duration{20});
  CHECK(byte_cost::rate(25'000'000'000)(4096) == duration{163'840});
  CHECK(byte_cost::rate(100'000'000)(1'000'000) == 10ms);
  CHECK(byte_cost::rate(3'000'000'000)(3) == duration{1000});
  CHECK(byte_cost::rate(3'000'000'000)(1) == duration{334});
  CHECK(byte_cost::rate(1'000'000'000)(std::uint64_t{1} << 40).count() == (std::int64_t{1} << 40) * 1000);
}

TEST_CASE("Work costs as the step says that its bytes are in", "[adapter]") {
  const work_cost copy{
      {{0, 10ns, byte_cost::rate(1'000'000'000)}, {1000, 20ns, byte_cost::rate(500'000'000)}}};
  CHECK(copy(0) == 10ns);
  CHECK(copy(999) == 1009ns);
  CHECK(copy(1000) == 2020ns);
  CHECK(work_cost{}(100) == 0ns);
}

}  // namespace
