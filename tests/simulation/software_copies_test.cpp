// SPDX-License-Identifier: Apache-2.0
// The cost to a core of the payloads that it posts to a software adapter.
#include "simulation/device/software_copies.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/communicator.hpp>
#include <chorale/core/error.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/verbs/completion_queue.hpp>
#include <chorale/verbs/queue_pair.hpp>

#include "../support/simulated.hpp"

namespace {

using namespace chorale::simulation;
using namespace std::chrono_literals;
using device::software_copies;

/// A nanosecond a byte, plus `call`.
work_cost costs(duration call) {
  return work_cost{{{0, call, byte_cost::rate(1'000'000'000)}}};
}

struct requests {
  std::array<std::byte, 1000> here{};
  std::array<std::byte, 1000> there{};
  ibv_sge piece{};

  ibv_send_wr make(ibv_wr_opcode what, std::uint32_t bytes) {
    piece = {reinterpret_cast<std::uint64_t>(here.data()), bytes, 0};
    ibv_send_wr one{};
    one.sg_list = &piece;
    one.num_sge = 1;
    one.opcode = what;
    one.wr.rdma.remote_addr = reinterpret_cast<std::uint64_t>(there.data());
    return one;
  }
};

TEST_CASE("A core copies the payloads that it posts, at a higher cost if others have touched the memory",
          "[software]") {
  posting_costs posting;
  written_memory written{true};
  software_copies copies{posting, written};
  requests to;
  const auto put = to.make(IBV_WR_RDMA_WRITE, 100);
  // An adapter that fetches payloads itself.
  CHECK_FALSE(copies.any());
  CHECK(copies.time_for(put, 0) == 0ns);

  posting.copy = costs(10ns);
  posting.copy_touched = costs(50ns);
  posting.reach = costs(1us);
  REQUIRE(copies.any());
  copies.shares(to.there.data(), to.there.size());
  CHECK(copies.time_for(put, 0) == 150ns);
  // The target is still as this core wrote it.
  written.wrote(to.there.data(), 100, 0);
  CHECK(copies.time_for(put, 0) == 110ns);
  // The target has read 40 bytes of it.
  written.read(to.there.data() + 60, 40, 1);
  CHECK(copies.time_for(put, 0) == (50ns + 40ns) + (10ns + 60ns));
  // The payload has just arrived.
  written.wrote(to.there.data(), 100, 0);
  written.wrote(to.here.data(), 30, 1);
  CHECK(copies.time_for(put, 0) == (50ns + 30ns) + (10ns + 70ns));
  CHECK(copies.time_for(put, 0) == 110ns);
  // A rank on the same core would have everything in its caches, one on another core nothing.
  CHECK(copies.time_for(put, 1) == 150ns);
  // The target's buffers of sends have been read since the last message.
  CHECK(copies.time_for(to.make(IBV_WR_SEND, 100), 0) == 150ns);
  CHECK(copies.time_for(to.make(IBV_WR_RDMA_READ, 100), 0) == 110ns);
  CHECK(copies.time_for(to.make(IBV_WR_ATOMIC_FETCH_AND_ADD, 8), 0) == 0ns);
  // Inline payloads are also copied directly to the target, whether or not their source is shared.
  auto is_inline = to.make(IBV_WR_RDMA_WRITE, 64);
  is_inline.send_flags = IBV_SEND_INLINE;
  CHECK(copies.time_for(is_inline, 0) == 10ns + 64ns);
  // Memory that the adapter has not allocated is reached through the system.
  copies.shares_no_more(to.there.data(), to.there.size());
  to.piece.length = 100;  // the length of all further requests
  written.read(to.here.data(), 100, 0);
  CHECK(copies.time_for(put, 0) == 110ns + (1us + 100ns));
  posting.copy_touched = {};
  CHECK(copies.time_for(to.make(IBV_WR_SEND, 100), 0) == 110ns);
}

TEST_CASE("A copy costs more if the caches cannot hold the bytes any more", "[software]") {
  posting_costs posting;
  posting.copy =
      work_cost{{{0, 0ns, byte_cost::rate(1'000'000'000)}, {500, 0ns, byte_cost::rate(100'000'000)}}};
  written_memory written{true};
  software_copies copies{posting, written};
  requests to;
  std::array<std::byte, 2000> others{};
  copies.shares(to.there.data(), to.there.size());
  const auto put = to.make(IBV_WR_RDMA_WRITE, 100);
  written.wrote(to.there.data(), 100, 0);
  CHECK(copies.time_for(put, 0) == 100ns);
  written.read(others.data(), others.size(), 1);
  CHECK(copies.time_for(put, 0) == 100ns);
  written.read(others.data(), others.size(), 0);
  CHECK(copies.time_for(put, 0) == 1000ns);
  // The source is cached again, the target is not.
  CHECK(copies.time_for(put, 0) == (100ns + 1000ns) / 2);
  // The target of a send is unknown.
  posting.copy_touched = costs(5ns);
  CHECK(copies.time_for(to.make(IBV_WR_SEND, 100), 0) == 105ns);
}

TEST_CASE("sim0 counts as a device that copies by cores if the machine's adapter does", "[software]") {
  machine on = support::test_machine(2);
  const auto seen = [&on] {
    bool copies = false;
    std::uint32_t most_inline = 0;
    run(2, on, [&](group& g) {
      chorale::communicator<> comm{g, {}};
      copies = comm.transport().copies_by_core();
      if (comm.rank() != 0) return;
      auto& net = comm.transport();
      chorale::verbs::completion_queue completions{net.device(), 16};
      chorale::verbs::queue_pair_options wanted;
      wanted.send = wanted.recv = &completions;
      for (wanted.inline_bytes = 1U << 16; most_inline == 0; wanted.inline_bytes /= 2) {
        try {
          most_inline = chorale::verbs::queue_pair{net.domain(), wanted}.inline_bytes();
        } catch (const chorale::error&) {
          // Half as many bytes may be granted.
        }
      }
    });
    return std::pair{copies, most_inline};
  };
  CHECK(seen() == std::pair{false, 1024U});
  on.adapter.posting.copy = costs(0ns);
  on.adapter.posting.inline_bytes = 16384;
  CHECK(seen() == std::pair{true, 16384U});
}

TEST_CASE("zero copy begins where copies through the system pay off, if cores copy", "[software]") {
  machine on = support::test_machine(2);
  const auto begin = [&on] {
    std::size_t bytes = 0;
    run(2, on, [&](group& g) { bytes = chorale::communicator<>{g, {}}.transport().zero_copy_bytes(); });
    return bytes;
  };
  CHECK(begin() == 65536);
  on.adapter.posting.copy = costs(0ns);
  CHECK(begin() == 10240);
  // 70,008 ns a call, and 1 ns a byte: 20,002 bytes, in whole KiB.
  on.adapter.posting.reach = costs(70us);
  CHECK(begin() == 20480);
  on.adapter.posting.reach = costs(1s);
  CHECK(begin() == 131072);
}

TEST_CASE("The copy of a rank's own block takes the time of the machine's costs", "[software]") {
  machine on = support::test_machine(2);
  const auto time = [&on] {
    duration longest{};
    run(2, on, [&](group& g) {
      chorale::communicator<> comm{g, {}};
      std::vector<std::byte> mine(100);
      std::vector<std::byte> all(200);
      comm.barrier();
      const instant begin = now();
      comm.allgather(std::span<const std::byte>{mine}, std::span<std::byte>{all});
      longest = std::max(longest, now() - begin);
    });
    return longest;
  };
  const duration without = time();
  on.host.own = costs(1us);
  const duration with = time();
  CHECK(with > without);
  CHECK(with <= without + 1us + 100ns);
}

TEST_CASE("A rank that posts to a software adapter is busy until its payload is copied", "[software]") {
  machine on = support::test_machine(2);
  const auto time = [&on] {
    duration posting{};
    run(2, on, [&](group& g) {
      chorale::communicator<> comm{g, {}};
      std::vector<std::byte> bytes(4096);
      for (int i = 0; i < 3; ++i) {
        comm.barrier();
        const instant begin = now();
        comm.broadcast(std::span<std::byte>{bytes}, chorale::root{0});
        if (comm.rank() == 0) posting = now() - begin;
      }
    });
    return posting;
  };
  const duration without = time();
  on.adapter.posting.copy = costs(0ns);
  CHECK(time() >= without + 4096ns);
}

}  // namespace
