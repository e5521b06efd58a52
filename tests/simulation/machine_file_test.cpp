// SPDX-License-Identifier: Apache-2.0
// Machine files: their parsing, and the errors of wrong files.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/error.hpp>
#include <chorale/simulation/machine/machine.hpp>

namespace {

using namespace chorale::simulation;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

// Line 1 is empty.
constexpr std::string_view file = R"(
{
  "machine": "little",
  "description": "two hosts",
  "sources": {"S": "a data sheet"},
  "hosts": {"count": 2, "from": "[S]"},
  "ranks_per_host": {"count": 3, "from": "[S]"},
  "host": {
    "cores": {"count": 4, "from": "[S]"},
    "copy": [
      {"bytes": 0, "call": {"ns": 5, "from": "[S]"}, "rate": {"GB/s": 2, "from": "[S]"}},
      {"bytes": 4096, "call": {"ns": 6, "from": "[S]"}, "rate": {"GB/s": 1, "from": "[S]"}}
    ],
    "copy_received": [{"bytes": 0, "call": {"ns": 3, "from": "[S]"}, "rate": {"MB/s": 250, "from": "[S]"}}],
    "own": [{"bytes": 0, "call": {"ns": 2, "from": "[S]"}, "rate": {"MB/s": 200, "from": "[S]"}}],
    "combine_received": [{"bytes": 0, "call": {"ns": 4, "from": "[S]"}, "rate": {"MB/s": 125, "from": "[S]"}}],
    "combine": [{"bytes": 0, "call": {"ns": 7, "from": "[S]"}, "rate": {"MB/s": 500, "from": "[S]"}}],
    "look": {"ns": 8, "from": "[S]"},
    "notice": {"ns": 9, "from": "[S]"},
    "context_switch": {"us": 1.5, "from": "[S]"},
    "crowded_context_switch": {"us": 2.5, "from": "[S]"},
    "call": {"ns": 10, "from": "[S]"},
    "send": {"ns": 11, "from": "[S]"},
    "receive": {"ns": 12, "from": "[S]"},
    "match": {"ns": 99, "from": "[S]"}
  },
  "adapter": {
    "posting": {
      "request": {"ns": 13, "from": "[S]"},
      "address": {"ns": 14, "from": "[S]"},
      "doorbell": {"ns": 15, "from": "[S]"},
      "inline_bytes": {"bytes": 64, "from": "[S]"},
      "inline_copy": {"GB/s": 4, "from": "[S]"},
      "copy": [{"bytes": 0, "call": {"ns": 51, "from": "[S]"}, "rate": {"GB/s": 1, "from": "[S]"}}],
      "copy_touched": [{"bytes": 0, "call": {"ns": 52, "from": "[S]"}, "rate": {"GB/s": 1, "from": "[S]"}}],
      "reach": [{"bytes": 0, "call": {"ns": 53, "from": "[S]"}, "rate": {"GB/s": 1, "from": "[S]"}}],
      "receive": {"ns": 16, "from": "[S]"},
      "poll": {"ns": 17, "from": "[S]"},
      "completion": {"ns": 18, "from": "[S]"}
    },
    "sending": {
      "start": {"ns": 19, "from": "[S]"},
      "fetch": {"ns": 20, "from": "[S]"},
      "gap": {"ps": 21500, "from": "[S]"},
      "packet": {"ns": 22, "from": "[S]"},
      "datagram": {"ns": 23, "from": "[S]"},
      "alone": {"rate": {"GB/s": 1, "from": "[S]"}, "acknowledgement": {"ns": 98, "from": "[S]"}}
    },
    "receiving": {
      "place": {"ns": 24, "from": "[S]"},
      "take": {"ns": 25, "from": "[S]"},
      "shared": {"ns": 26, "from": "[S]"},
      "complete": {"ns": 27, "from": "[S]"},
      "gap": {"ns": 28, "from": "[S]"},
      "packet": {"ns": 29, "from": "[S]"},
      "datagram": {"ns": 30, "from": "[S]"},
      "acknowledge": {"ns": 31, "from": "[S]"},
      "read": {"ns": 32, "from": "[S]"},
      "atomic": {"ns": 33, "from": "[S]"}
    },
    "bus": {"rate": {"MB/s": 800, "from": "estimate: as others"}, "half_duplex": true},
    "contexts": {
      "count": {"count": 32, "from": "[S]"},
      "miss": {"us": 1, "from": "[S]"},
      "stall": {"us": 0.5, "from": "[S]"}
    },
    "registration": {
      "call": {"us": 34, "from": "[S]"},
      "page": {"ns": 35, "from": "[S]"},
      "end_call": {"us": 36, "from": "[S]"},
      "end_page": {"ns": 37, "from": "[S]"},
      "page_bytes": {"bytes": 4096, "from": "[S]"}
    },
    "wake": {"us": 38, "from": "[S]"},
    "burst": {"bytes": 8192, "from": "[S]"},
    "multicast": false,
    "datagrams": true,
    "profile": "srq=0,mtu=2048"
  },
  "network": {
    "shape": {"kind": "one switch", "ports": 8, "from": "[S]"},
    "host_link": {"rate": {"Gb/s": 200, "from": "[S]"}, "delay": {"ns": 39, "from": "[S]"}},
    "switches": {
      "forward": {"ns": 40, "from": "[S]"},
      "replicate": {"ns": 41, "from": "[S]"},
      "whole_packets": true
    },
    "packets": {
      "payload": {"bytes": 2048, "from": "[S]"},
      "connected": {"bytes": 26, "from": "[S]"},
      "datagram": {"bytes": 60, "from": "[S]"}
    }
  }
}
)";

std::string with(std::string_view old, std::string_view other) {
  std::string text{file};
  const auto at = text.find(old);
  REQUIRE(at != text.npos);
  REQUIRE(text.find(old, at + 1) == text.npos);
  return text.replace(at, old.size(), other);
}

std::string complaint(const std::string& text) {
  try {
    static_cast<void>(parse_machine(text, "little.json"));
  } catch (const chorale::error& e) {
    CHECK(e.code() == chorale::errc::invalid_argument);
    return e.what();
  }
  return "none";
}

/// With `old` replaced by `other`, the file's error names the file, the line of `place`, and `what`.
void refuses(std::string_view old, std::string_view other, std::string_view place, const std::string& what) {
  const auto text = with(old, other);
  const auto at = text.find(place);
  REQUIRE(at != text.npos);
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  const auto told = complaint(text);
  INFO(told);
  CHECK_THAT(told, Contains("machine file 'little.json', line " + std::to_string(line) + ": "));
  CHECK_THAT(told, Contains(what));
}

TEST_CASE("A machine file's numbers are read", "[machine]") {
  const auto all = parse_machine(file, "little.json");
  CHECK(all.name == "little");
  CHECK(all.description == "two hosts");
  CHECK(all.hosts == 2);
  CHECK(all.ranks_per_host == 3);
  const auto& host = all.host;
  CHECK(host.cores == 4);
  CHECK(host.copy(4095) == 5ns + byte_cost::rate(2'000'000'000)(4095));
  CHECK(host.copy(4096) == 6ns + 4096ns);
  CHECK(host.copy_received(2) == 3ns + 8ns);
  CHECK(host.own(1) == 2ns + 5ns);
  CHECK(host.combine(1) == 7ns + 2ns);
  CHECK(host.combine_received(1) == 4ns + 8ns);
  CHECK(all.adapter.posting.copy(1) == 51ns + 1ns);
  CHECK(all.adapter.posting.copy_touched(1) == 52ns + 1ns);
  CHECK(all.adapter.posting.reach(1) == 53ns + 1ns);
  CHECK(host.match == 99ns);
  REQUIRE(all.adapter.sending.alone.has_value());
  CHECK(all.adapter.sending.alone->rate == byte_cost::rate(1'000'000'000));
  CHECK(all.adapter.sending.alone->acknowledgement == 98ns);
  CHECK(host.context_switch == 1500ns);
  CHECK(host.crowded_context_switch == 2500ns);
  // The other times are different numbers, in the order of the file.
  const auto& [posting, sending, receiving, bus, contexts, registration, wake, burst, multicast, datagrams,
               profile] = all.adapter;
  const std::vector<duration> times{host.look,
                                    host.notice,
                                    host.call,
                                    host.send,
                                    host.receive,
                                    posting.request,
                                    posting.address,
                                    posting.doorbell,
                                    posting.receive,
                                    posting.poll,
                                    posting.completion,
                                    sending.start,
                                    sending.fetch,
                                    duration{},
                                    sending.packet,
                                    sending.datagram,
                                    receiving.place,
                                    receiving.take,
                                    receiving.shared,
                                    receiving.complete,
                                    receiving.gap,
                                    receiving.packet,
                                    receiving.datagram,
                                    receiving.acknowledge,
                                    receiving.read,
                                    receiving.atomic,
                                    registration.call,
                                    registration.page,
                                    registration.end_call,
                                    registration.end_page,
                                    wake,
                                    all.network.host_link.delay,
                                    all.network.switches.forward,
                                    all.network.switches.replicate};
  std::vector<duration> expected;
  for (int number = 8; number <= 41; ++number)
    expected.push_back(number == 34 || number == 36 || number == 38 ? duration{number * 1us} : number * 1ns);
  expected[21 - 8] = {};
  CHECK(times == expected);
  CHECK(sending.gap == duration{21500});
  CHECK(posting.inline_bytes == 64);
  CHECK(posting.inline_copy == byte_cost::rate(4'000'000'000));
  CHECK(bus.rate == byte_cost::rate(800'000'000));
  CHECK(bus.half_duplex);
  CHECK(contexts.count == 32);
  CHECK(contexts.miss == 1us);
  CHECK(contexts.stall == 500ns);
  CHECK(registration.page_bytes == 4096);
  CHECK(burst == 8192);
  CHECK_FALSE(multicast);
  CHECK(datagrams);
  CHECK(profile == "srq=0,mtu=2048");
  CHECK(std::get<one_switch>(all.network.shape).ports == 8);
  CHECK(all.network.host_link.rate == byte_cost::femtoseconds(40'000));
  CHECK(all.network.switch_link.delay == 39ns);
  CHECK(all.network.global_link.delay == 39ns);
  CHECK(all.network.switches.whole_packets);
  CHECK(all.network.packets.payload == 2048);
  CHECK(all.network.packets.connected == 26);
  CHECK(all.network.packets.datagram == 60);
}

TEST_CASE("A machine may say what is near", "[machine]") {
  CHECK_FALSE(parse_machine(file, "little.json").near);
  const std::string near = R"(
  "near": {
    "post": {"ns": 71, "from": "[S]"},
    "line": {"ns": 72, "from": "[S]"},
    "transfer": {"ns": 74, "from": "[S]"},
    "rate": {"GB/s": 5, "from": "[S]"},
    "memory": {"bytes": {"bytes": 7300, "from": "[S]"}, "rate": {"GB/s": 50, "from": "[S]"}}
  },)";
  constexpr std::string_view name = R"(  "machine": "little",)";
  const auto found = parse_machine(with(name, near + std::string{name}), "little.json").near;
  REQUIRE(found);
  CHECK(found->post == 71ns);
  CHECK(found->line == 72ns);
  CHECK(found->transfer == 74ns);
  CHECK(found->byte == byte_cost::rate(5'000'000'000));
  CHECK(found->uncached == 7300);
  CHECK(found->memory == byte_cost::rate(50'000'000'000));
  refuses(name, R"("near": {"post": {"ns": 71, "from": "[S]"}},)" + std::string{name}, "{\"post\"",
          "\"near.line\" is missing");
}

TEST_CASE("Each number keeps its source", "[machine]") {
  const auto all = parse_machine(file, "little.json");
  const auto bus = std::find_if(all.sources.begin(), all.sources.end(),
                                [](const provenance& one) { return one.parameter == "adapter.bus.rate"; });
  REQUIRE(bus != all.sources.end());
  CHECK(bus->value == "800 MB/s");
  CHECK(bus->source == "estimate: as others");
  // Every "from" of the file, and nothing else.
  std::size_t froms = 0;
  for (auto at = file.find("\"from\""); at != file.npos; at = file.find("\"from\"", at + 1)) ++froms;
  CHECK(all.sources.size() == froms);
}

TEST_CASE("Topologies are read", "[machine]") {
  const auto shape = [](const std::string& text) {
    return parse_machine(with(R"({"kind": "one switch", "ports": 8, "from": "[S]"})", text), "f")
        .network.shape;
  };
  const auto tree =
      std::get<fat_tree>(shape(R"({"kind": "fat tree", "down": [4, 3], "up": [2], "from": "[S]"})"));
  CHECK(tree.down == std::vector{4, 3});
  CHECK(tree.up == std::vector{2});
  const auto grid =
      std::get<torus>(shape(R"({"kind": "torus", "extent": [2, 3], "hosts": 2, "from": "[S]"})"));
  CHECK(grid.extent == std::vector{2, 3});
  CHECK(grid.hosts == 2);
  const auto groups = std::get<dragonfly>(
      shape(R"({"kind": "dragonfly", "groups": 3, "switches": 2, "hosts": 4, "globals": 1, "from": "[S]"})"));
  CHECK(groups.groups == 3);
  CHECK(groups.hosts == 4);
}

TEST_CASE("A missing member is named with its section", "[machine]") {
  refuses(R"(    "wake": {"us": 38, "from": "[S]"},)", "", "\"adapter\"", "\"adapter.wake\" is missing");
  refuses(R"(  "machine": "little",)", "", "{", "\"machine\" is missing");
  refuses(R"({"ns": 19, "from": "[S]"})", R"({"from": "[S]"})", "\"start\"",
          "\"adapter.sending.start\" has no value");
  refuses(R"({"ns": 19, "from": "[S]"})", R"({"ns": 19})", "\"start\"",
          "\"adapter.sending.start.from\" is missing");
}

TEST_CASE("An unknown member is named, with the known ones", "[machine]") {
  refuses(R"("wake")", R"("wakes": 1, "wake")", "\"wakes\"",
          "\"adapter.wakes\" is unknown here; \"adapter\" has \"posting\"");
  refuses(
      R"({"ns": 20, "from": "[S]"})", R"({"hours": 20, "from": "[S]"})", "\"hours\"",
      "\"adapter.sending.fetch\" has the unknown key \"hours\": it has to be an object of its value under "
      "its unit (\"ps\", \"ns\", \"us\", \"ms\")");
  refuses(R"("one switch")", R"("hypercube")", "\"hypercube\"", "\"network.shape.kind\" is \"hypercube\"");
  refuses(R"("machine": "little",)", "\"machine\": \"little\",\n\"more\": 1,", "\"more\"",
          "\"more\" is unknown here; a machine");
}

TEST_CASE("A value of the wrong type is named with the right type", "[machine]") {
  refuses(R"("half_duplex": true)", R"("half_duplex": 1)", "\"half_duplex\"",
          "\"adapter.bus.half_duplex\" is the number 1, which has to be true or false");
  refuses(R"({"us": 38, "from": "[S]"})", "38", "\"wake\"",
          "\"adapter.wake\" is the number 38, which has to be an object");
  refuses(R"({"us": 38,)", R"({"us": "38",)", "\"wake\"",
          "\"adapter.wake\" is the text \"38\", which has to be a number");
  refuses(R"({"count": 4,)", R"({"count": 4.5,)", "\"cores\"",
          "\"host.cores\" is 4.5, which has to be a whole");
  refuses(R"("ports": 8)", R"("ports": 0)", "\"ports\"", "\"network.shape.ports\" is the number 0");
  refuses(R"("ports": 8)", R"("ports": "8")", "\"ports\"", "\"network.shape.ports\" is the text \"8\"");
}

TEST_CASE("A number out of range is refused", "[machine]") {
  refuses(R"({"us": 38,)", R"({"us": -38,)", "\"wake\"",
          "\"adapter.wake\" is the number -38, which has to be a number that is not negative");
  refuses(R"({"us": 38,)", R"({"ms": 38e9,)", "\"wake\"", "longer than 1,000 seconds");
  refuses(R"({"MB/s": 800,)", R"({"MB/s": 0,)", "\"bus\"",
          "\"adapter.bus.rate\" is a rate out of what can be reckoned with");
  refuses(R"({"bytes": 2048,)", R"({"bytes": 0,)", "\"payload\"", "\"network.packets.payload\"");
  refuses(R"("bytes": 4096, "call")", R"("bytes": 0, "call")", "{\"ns\": 6",
          "\"host.copy\" begins with steps");
}

TEST_CASE("The error of a number at the end of a line names that line", "[machine]") {
  refuses(R"("ports": 8, "from": "[S]"})", "\"from\": \"[S]\", \"ports\":\n-7\n}", "-7",
          "\"network.shape.ports\"");
}

TEST_CASE("A number without a real source is refused", "[machine]") {
  refuses(R"({"us": 38, "from": "[S]"})", R"({"us": 38, "from": "[T]"})", "[T]",
          "cites [T], which \"sources\" does not have");
  refuses(R"({"us": 38, "from": "[S]"})", R"({"us": 38, "from": "somewhere"})", "somewhere",
          "\"adapter.wake\" is no source");
  refuses(R"({"us": 38, "from": "[S]"})", R"({"us": 38, "from": "estimate: "})", "\"wake\"", "is no source");
  refuses(R"({"us": 38, "from": "[S]"})", R"({"us": 38, "from": ""})", "\"wake\"",
          "\"adapter.wake.from\" is the text \"\"");
}

TEST_CASE("Invalid JSON is refused with its line", "[machine]") {
  refuses(R"("machine": "little",)", R"("machine": "little")", "\"description\"", "this is no JSON");
  refuses(R"("machine": "little",)", R"("machine": little,)", "little", "this is no JSON");
  refuses(R"("ranks_per_host")", R"("hosts")", "\"hosts\": {\"count\": 3",
          "the key \"hosts\" is there twice");
  CHECK_THAT(complaint(""), Contains("line 1: this is no JSON"));
  CHECK_THAT(complaint("[]"), Contains("line 1: the file is an array, which has to be an object"));
  CHECK_THAT(complaint("{}\n\n\nx"), Contains("line 4: this is no JSON"));
}

TEST_CASE("A machine that cannot be simulated is refused", "[machine]") {
  CHECK_THAT(complaint(with(R"("ports": 8)", R"("ports": 1)")),
             Contains("machine 'little' has 2 hosts, and a network with room for 1"));
  const auto refused = [](topology shape, const std::string& why) {
    auto all = parse_machine(file, "little.json");
    all.network.shape = std::move(shape);
    CHECK_THROWS_WITH(validate(all), Contains(why));
  };
  refused(fat_tree{{4, 2}, {}}, "one entry less");
  refused(fat_tree{{4, 0}, {1}}, "no links");
  refused(fat_tree{{1 << 20, 1 << 20}, {1 << 20}}, "more than 2^24 links");
  refused(torus{{}, 1}, "without dimensions");
  refused(dragonfly{9, 2, 1, 3}, "6 links to 8 other groups");
  refused(dragonfly{1 << 20, 1 << 20, 1, 1 << 20}, "more than 2^24 links");
}

TEST_CASE("The name of no machine and no file is refused, with the known machines", "[machine]") {
  CHECK_THROWS_WITH(read_machine("no-such-machine"), Contains("No such file") && Contains("hdr-64core"));
  CHECK_THROWS_WITH(read_machine("/tmp"), Contains("it is a folder"));
}

}  // namespace
