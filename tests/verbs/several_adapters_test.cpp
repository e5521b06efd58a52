// SPDX-License-Identifier: Apache-2.0
// choose() where a host has several devices: kinds, rates, NUMA nodes, and the turns of ranks.
#include <cstddef>
#include <cstdint>
#include <sched.h>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/verbs/selection.hpp>

#include "../../lib/verbs/candidate.hpp"
#include "../../lib/verbs/numa.hpp"
#include "fake_driver.hpp"
#include "scratch.hpp"
#include "selection_scene.hpp"
#include "support.hpp"

using Catch::Contains;
using chorale::errc;
using namespace chorale::verbs;
using fake::down;
using scene = fake::selection_scene;
using test::error_of;

TEST_CASE("ranks of a host take the devices of a list in turn", "[fake]") {
  const scene here({fake::infiniband("ib0"), fake::infiniband("ib1"), fake::roce("roce0")});
  const auto turn = [&](const char* list, int local_rank) {
    return choose({.device = list}, here.drivers, local_rank);
  };
  CHECK(turn("ib1,roce0,ib0", 0).device.name == "ib1");
  CHECK(turn("ib1,roce0,ib0", 1).device.name == "roce0");
  CHECK(turn("ib1,roce0,ib0", 2).device.name == "ib0");
  CHECK(turn("ib1,roce0,ib0", 4).device.name == "roce0");
  CHECK(turn("ib1", 5).device.name == "ib1");
  CHECK(turn("ib1,ib1,ib0", 1).device.name == "ib1");
  CHECK_THAT(turn("ib1,roce0,ib0", 4).why,
             Contains("roce0 is number 2 of the 3") && Contains("local rank 4"));
  CHECK(here.pick({.device = "ib0,ib1"}).device.name == "ib0");

  for (const char* list : {",", "ib0,", ",ib0", "ib0,,ib1"}) {
    const auto e = here.refusal({.device = list});
    CHECK(e.code() == errc::invalid_argument);
    CHECK_THAT(e.what(), Contains("CHORALE_DEVICE") && Contains("comma"));
  }
  // Each rank checks its own device only: another host may have a device that this one lacks.
  CHECK(turn("ib1,nosuch", 0).device.name == "ib1");
  const auto missing = error_of([&] { static_cast<void>(turn("ib1,nosuch", 1)); });
  CHECK(missing.code() == errc::no_device);
  CHECK_THAT(missing.what(), Contains("nosuch"));
  CHECK(error_of([&] { static_cast<void>(turn("ib0", -1)); }).code() == errc::invalid_argument);
}

TEST_CASE("InfiniBand, then routable RoCE, then other RoCE", "[fake]") {
  auto local = fake::roce("roce0");
  local.ports[0].gids.resize(2);
  const scene here({local, fake::roce("roce1"), fake::infiniband("ib0"), fake::infiniband("ib1")});
  CHECK(here.pick().device.name == "ib0");
  auto& all = fake::real().devices;
  all[2] = down(all[2]);
  CHECK(here.pick().device.name == "ib1");
  all[3] = down(all[3]);
  CHECK(here.pick().device.name == "roce1");
  CHECK_THAT(here.pick().why, Contains("routed address"));
  all[1] = down(all[1]);
  CHECK(here.pick().device.name == "roce0");
  CHECK_THAT(here.pick().why, Contains("only RDMA device"));
}

TEST_CASE("the fastest port; ranks of a host take devices that are alike in turn", "[fake]") {
  const scene here(
      {fake::infiniband("ib0"), fake::infiniband("ib1"), fake::infiniband("ib2"), fake::roce("roce0")});
  auto& all = fake::real().devices;
  const auto names = [&](int step) {
    std::string taken;
    for (int rank = 0; rank < 8; rank += step)
      taken += choose({}, here.drivers, rank).device.name.substr(2) + " ";
    return taken;
  };
  CHECK(names(1) == "0 1 2 0 1 2 0 1 ");
  CHECK_THAT(choose({}, here.drivers, 4).why,
             Contains("ib1") && Contains("of 3 that suit alike") && Contains("local rank 4") &&
                 Contains("InfiniBand, 100 Gbit/s") && Contains("CHORALE_DEVICE"));
  SECTION("each adapter serves as many ranks, also where only every other local rank is on this NUMA node") {
    all[2] = down(all[2]);
    CHECK(names(1) == "0 1 1 0 1 0 0 1 ");
    CHECK(names(2) == "0 1 1 0 ");
  }
  SECTION("what is slower is left alone") {
    all[0].ports[0].speed = 16;  // FDR: 14 Gbit/s a lane
    all[2].ports[0].width = 1;
    CHECK(names(1) == "1 1 1 1 1 1 1 1 ");
    CHECK_THAT(here.pick().why, Contains("ib1") && !Contains("local rank"));
    // EDR on two lanes is slower than FDR on four, and the numbers of both in ibv_port_attr are greater.
    all[1].ports[0].width = 16;
    CHECK(names(2) == "0 0 0 0 ");
    // A rate that this version does not know is not compared.
    all[0].ports[0].speed = all[1].ports[0].speed = all[2].ports[0].speed = 0;
    CHECK(names(1) == "0 1 2 0 1 2 0 1 ");
  }
  SECTION("so is another subnet, as far as it shows") {
    all[0].ports[0].gids[0].gid.raw[7] ^= 1;
    CHECK(names(1) == "0 0 0 0 0 0 0 0 ");
    all[0].ports[0].gids[0].gid.raw[7] ^= 1;
    all[1].ports[0].sm_lid = 7;
    CHECK(names(2) == "0 2 2 0 ");
  }
  SECTION("another partition") {
    all[0].ports[0].pkeys = {0x8001};
    CHECK(names(1) == "0 0 0 0 0 0 0 0 ");
  }
  SECTION("RoCE") {
    all.erase(all.begin(), all.begin() + 3);
    all.push_back(fake::roce("roce1"));
    CHECK(choose({}, here.drivers, 0).device.name == "roce0");
    CHECK(choose({}, here.drivers, 1).device.name == "roce1");
    // Addresses of different families do not reach each other, and addresses that are not routed tell
    // nothing.
    auto& second = all[1].ports[0].gids;
    second = {fake::row_of("2001:db8::1", IBV_GID_TYPE_ROCE_V2)};
    CHECK(choose({}, here.drivers, 1).device.name == "roce0");
    all[0].ports[0].gids = all[1].ports[0].gids = {fake::link_local_row(IBV_GID_TYPE_ROCE_V2)};
    CHECK(choose({}, here.drivers, 1).device.name == "roce0");
  }
}

TEST_CASE("turns among adapters serve as many ranks each, however ranks are dealt to NUMA nodes") {
  for (const auto& [adapters, step] : {std::pair{2, 1},
                                       {2, 2},
                                       {2, 4},
                                       {2, 8},
                                       {4, 1},
                                       {4, 2},
                                       {4, 4},
                                       {4, 8},
                                       {3, 1},
                                       {3, 2},
                                       {8, 1},
                                       {8, 2}}) {
    std::vector<int> ranks(static_cast<std::size_t>(adapters));
    constexpr int each = 8;
    for (int i = 0; i < each * adapters; ++i)
      ++ranks[turn_of(static_cast<std::size_t>(i * step), static_cast<std::size_t>(adapters))];
    INFO(adapters << " adapters, every " << step << "th rank");
    CHECK(ranks == std::vector<int>(static_cast<std::size_t>(adapters), each));
  }
}

TEST_CASE("kind, rate, fabric, and then the distance") {
  const auto named = [](const char* name, int kind, int rate, int distance, std::uint16_t fabric = 1) {
    candidate made{.kind = kind, .rate = rate, .distance = distance, .subnet_manager = fabric};
    made.settled.device.name = name;
    return made;
  };
  const auto best = [](std::vector<candidate> all, int rank = 0) { return best_of(std::move(all), rank); };
  CHECK(best({named("far", 0, 1000, 1), named("near", 0, 1000, 0)}).device.name == "near");
  CHECK(best({named("slow", 0, 100, 0), named("fast", 0, 1000, 1)}).device.name == "fast");
  CHECK(best({named("roce", 1, 1000, 0), named("ib", 0, 100, 1)}).device.name == "ib");
  CHECK(best({named("first", 0, 1000, 1), named("other", 0, 1000, 0, 2)}).device.name == "first");
  // Turns are taken among the near ones only.
  const std::vector<candidate> four{named("a", 0, 1000, 1), named("b", 0, 1000, 0), named("c", 0, 1000, 0),
                                    named("d", 0, 1000, 1)};
  CHECK(best(four, 0).device.name == "b");
  CHECK(best(four, 1).device.name == "c");
  CHECK_THAT(best({named("far", 0, 1000, 1), named("slow", 0, 100, 0)}).why, Contains("another NUMA node"));
  CHECK_THAT(best({named("alone", 2, 0, 1)}).why, Contains("only RDMA device"));
}

TEST_CASE("a device counts as remote on another NUMA node than all cores of the thread") {
  const test::scratch there;
  cpu_set_t mine;
  REQUIRE(sched_getaffinity(0, sizeof mine, &mine) == 0);
  std::size_t own = 0;
  while (!CPU_ISSET(own, &mine)) ++own;
  std::size_t other = 0;
  while (CPU_ISSET(other, &mine)) ++other;
  there.write("devices/system/node/node0/cpulist", std::to_string(own) + "\n");
  there.write("devices/system/node/node1/cpulist",
              std::to_string(other) + "," + std::to_string(other) + "-" + std::to_string(other) + "\n");
  const auto at = [&](const char* node) {
    there.write("class/infiniband/ib0/device/numa_node", node);
    return is_elsewhere("ib0", there.path.string());
  };
  CHECK(!at("0\n"));
  CHECK(at("1\n"));
  CHECK(!at("2\n"));
  CHECK(!at("-1\n"));
  CHECK(!is_elsewhere("ib1", there.path.string()));
}
