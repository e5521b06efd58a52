// SPDX-License-Identifier: Apache-2.0
// The simulated soft0: who finds it, what it costs, and communicators that use it beside the adapter.
#include "simulation/device/near_device.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/communicator.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/error.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/transport/hybrid.hpp>

#include "../support/simulated.hpp"
#include "../support/twins.hpp"
#include "simulated_hosts.hpp"
#include "simulation/memory_costs.hpp"

namespace {

using namespace simulated;
using namespace std::chrono_literals;

/// Hosts of `each` ranks, with a soft0.
machine with_near(int ranks, int each) {
  machine m = support::test_machine(ranks);
  m.ranks_per_host = each;
  m.hosts = (ranks + each - 1) / each;
  m.network.shape = one_switch{m.hosts};
  m.near = support::test_near();
  return m;
}

std::string devices() {
  std::string names;
  for (const auto& one : verbs::list_devices()) names += one.name + ' ';
  return names;
}

/// What the devices of a communicator of each rank are called, and how many places there are.
template <class Transport>
std::vector<std::string> lanes(const machine& on, int ranks, const chorale::config& settings = {}) {
  std::vector<std::string> all(static_cast<std::size_t>(ranks));
  run(ranks, on, [&](group& g) {
    chorale::communicator<Transport> comm{g, settings};
    const auto& net = comm.transport();
    auto& mine = all[static_cast<std::size_t>(g.rank())];
    mine = std::to_string(net.layout().count()) + ' ' + net.chosen().device.name;
    if (net.uses_lanes()) mine += ", lanes";
  });
  return all;
}

/// Rank 0, which makes it, and rank 1, connected by their devices soft0.
struct soft0_pair {
  explicit soft0_pair(scheduler& time) : theirs(opened_by_rank_1(time)) {
    connect(here, mine, there, *theirs);
    connect(there, *theirs, here, mine);
  }
  static std::unique_ptr<endpoint> opened_by_rank_1(scheduler& time) {
    std::unique_ptr<endpoint> made;
    time.join(time.spawn("opens", 1,
                         [&] { made = std::make_unique<endpoint>(bytes, 4096, verbs::software_name); }));
    return made;
  }

  static constexpr std::size_t bytes = 64 * 1024;
  endpoint mine{bytes, 4096, verbs::software_name};
  std::unique_ptr<endpoint> theirs;
  verbs::queue_pair here = mine.pair();
  verbs::queue_pair there = theirs->pair();
};

/// The time at which the last of `ranks` ranks has made `calls` allreduces of 8 bytes and as many of 64 KiB.
duration time_of(const machine& on, int ranks, int calls = 3) {
  return run(ranks, on,
             [&](group& g) {
               chorale::communicator<> comm{g, {}};
               for (int i = 0; i < calls; ++i)
                 for (const std::size_t count : {std::size_t{1}, std::size_t{8192}}) {
                   std::vector<std::uint64_t> sum(count, 1);
                   comm.allreduce(chorale::in_place, sum, std::plus<>{});
                   CHECK(sum.back() == static_cast<std::uint64_t>(ranks));
                 }
             })
      .elapsed;
}

}  // namespace

TEST_CASE("Ranks that share a host find soft0 beside their adapter, if the machine says what is near",
          "[near]") {
  const auto found = [](const machine& on, int ranks) {
    std::string names;
    run(ranks, on, [&](group& g) {
      if (g.rank() == ranks - 1) names = devices();
    });
    return names;
  };
  CHECK(found(with_near(4, 2), 4) == "sim0 soft0 ");
  // The last host has one rank only, but all ranks have to look for it.
  CHECK(found(with_near(5, 2), 5) == "sim0 soft0 ");
  CHECK(found(with_near(3, 1), 3) == "sim0 ");
  CHECK(found(support::test_machine(4), 4) == "sim0 ");
}

TEST_CASE("A core pays for its copy, and whoever reads first for fetching the bytes", "[near]") {
  machine m = small_machine(1);
  m.ranks_per_host = 2;
  m.host.copy = work_cost{{{0, 0ns, byte_cost::rate(2'000'000'000)}}};
  m.near = near_costs{20ns, 30ns, byte_cost::rate(1'000'000'000), 1U << 20, byte_cost::rate(1'000'000'000)};
  memory_costs memory{m, {2, 2}};
  scheduler_options how;
  how.copied = memory.copies();
  scheduler time{how};
  wire costs(m, 1);
  fabric adapters(time, costs, {2, 2});
  device::near_device near{time, m, {2, 2}, memory, {}};
  time.spawn("rank 0", 0, [&] {
    soft0_pair both{time};
    endpoint& mine = both.mine;
    CHECK(mine.device.is_soft());
    CHECK(mine.device.copies_by_core());
    CHECK(mine.device.keeps_order());
    const endpoint& theirs = *both.theirs;
    mine.buffer.data()[999] = std::byte{7};
    ibv_sge piece = mine.piece(0, 1000);
    ibv_send_wr wr = write_to(theirs, 0, piece);
    instant begin = time.now();
    both.here.post_send(wr);
    CHECK(time.now() - begin == 20ns + 500ns);
    CHECK(next(mine.queue).status == IBV_WC_SUCCESS);
    CHECK(time.now() - begin >= 550ns);
    CHECK(theirs.buffer.data()[999] == std::byte{7});
    // The other rank fetches what it reads, but only once.
    time.join(time.spawn("reads", 1, [&] {
      std::vector<std::byte> copy(1000);
      for (const duration expected : {1000ns, 500ns}) {
        const instant since = time.now();
        chorale::copy_bytes(copy.data(), theirs.buffer.data(), copy.size());
        CHECK(time.now() - since == expected);
      }
    }));
    // What a core reads from the memory of another rank it fetches itself.
    wr = request(IBV_WR_RDMA_READ, piece);
    wr.wr.rdma = {.remote_addr = theirs.at(0), .rkey = theirs.buffer.rkey()};
    begin = time.now();
    both.here.post_send(wr);
    CHECK(time.now() - begin == 20ns + 1000ns);
    CHECK(next(mine.queue).status == IBV_WC_SUCCESS);
  });
  time.run();
}

TEST_CASE("soft0 leads to no other host", "[near]") {
  machine m = small_machine(2);
  m.near = support::test_near();
  memory_costs memory{m, {2, 1}};
  scheduler time;
  wire costs(m, 2);
  fabric adapters(time, costs, {2, 1});
  device::near_device near{time, m, {2, 1}, memory, {}};
  time.spawn("rank 0", 0, [&] {
    soft0_pair both{time};
    endpoint& mine = both.mine;
    const endpoint& theirs = *both.theirs;
    mine.buffer.data()[0] = std::byte{7};
    ibv_sge piece = mine.piece(0, 1);
    ibv_send_wr wr = write_to(theirs, 0, piece);
    both.here.post_send(wr);
    CHECK(next(mine.queue).status == IBV_WC_RETRY_EXC_ERR);
    CHECK(theirs.buffer.data()[0] == std::byte{0});
  });
  time.run();
}

TEST_CASE("A job on several simulated hosts has a place for each, and two lanes", "[near]") {
  using chorale::transport::hybrid;
  using chorale::transport::rc;
  using names = std::vector<std::string>;
  CHECK(lanes<rc>(with_near(4, 2), 4) == names(4, "2 sim0, lanes"));
  CHECK(lanes<hybrid<2>>(with_near(5, 2), 5) == names(5, "3 sim0, lanes"));
  CHECK(lanes<rc>(with_near(4, 4), 4) == names(4, "1 soft0"));
  CHECK(lanes<rc>(with_near(3, 1), 3) == names(3, "3 sim0"));
  CHECK(lanes<rc>(support::test_machine(4), 4) == names(4, "1 sim0"));
  chorale::config off;
  off.near = chorale::near_policy::off;
  CHECK(lanes<rc>(with_near(4, 2), 4, off) == names(4, "2 sim0"));
}

TEST_CASE("Lanes are faster than the adapter alone, and take the same time in each run", "[near]") {
  for (const auto& [ranks, each] : {std::pair{4, 4}, {8, 4}, {7, 3}}) {
    INFO(ranks << " ranks, " << each << " a host");
    auto far = with_near(ranks, each);
    far.near.reset();
    const auto once = time_of(with_near(ranks, each), ranks);
    CHECK(once == time_of(with_near(ranks, each), ranks));
    CHECK(time_of(with_near(ranks, each), ranks, 20) - once < time_of(far, ranks, 20) - time_of(far, ranks));
  }
}

TEST_CASE("The death of a rank is seen over both lanes", "[near]") {
  run_options how;
  how.wrong.hidden_processes = GENERATE(false, true);
  how.wrong.deaths = {{.rank = 1, .when = instant{5ms}}};
  const int each = GENERATE(1, 2, 4);
  // Memory of dead ranks is never freed: a child process hides it from leak checkers.
  const auto fates = support::finish(support::start_twin([&] {
    std::string lost;
    run(
        4, with_near(4, each),
        [&](group& g) {
          chorale::config settings;
          settings.silence = 1s;
          settings.qp_timeout = 10;
          try {
            chorale::communicator<> comm{g, settings};
            for (;;) comm.barrier();
          } catch (const chorale::error& e) {
            for (const int rank : e.ranks()) lost += std::to_string(rank) + ' ';
          }
        },
        how);
    return lost;
  }));
  CHECK(fates == "1 1 1 ");
}

TEST_CASE("Ranks of one host need no adapter", "[near]") {
  run_options how;
  how.wrong.adapter_failures = {{.host = 0, .when = instant{5ms}}};
  run(
      4, with_near(4, 4),
      [](group& g) {
        chorale::communicator<> comm{g, {}};
        comm.barrier();
        compute(10ms);
        comm.barrier();
      },
      how);
}

TEST_CASE("A rank that has waited for long sees at once what comes by either device", "[near]") {
  const int each = GENERATE(1, 2, 4);
  CAPTURE(each);
  instant arrives{};
  duration latest{};
  run(4, with_near(4, each), [&](group& g) {
    chorale::communicator<> comm{g, {}};
    comm.barrier();
    // Long enough for the others to poll at the longest intervals, too short for naps.
    if (comm.rank() == 0) {
      compute(4ms);
      arrives = now();
    }
    comm.barrier();
    latest = std::max(latest, now() - arrives);
  });
  CHECK(latest < 10us);
}

TEST_CASE("A rank that hears no datagrams hears none of its host's soft0 either", "[near]") {
  machine m = small_machine(1);
  m.ranks_per_host = 2;
  m.near = support::test_near();
  faults wrong;
  wrong.deafnesses = {{.rank = 1, .when = instant{}, .time = 1ms}};
  memory_costs memory{m, {2, 2}};
  scheduler time;
  wire costs(m, 1);
  fabric adapters(time, costs, {2, 2});
  device::near_device near{time, m, {2, 2}, memory, device::disturbance{wrong, 1}};
  CHECK(near.ranks().chance().is_deaf(1, instant{}));
  CHECK_FALSE(near.ranks().chance().is_deaf(0, instant{}));
  CHECK_FALSE(near.ranks().chance().is_deaf(1, instant{1ms}));
}
