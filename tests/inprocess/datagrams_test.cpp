// SPDX-License-Identifier: Apache-2.0
// Transports over reliable datagrams: every collective, windows, retransmission and the service thread. Meson
// runs them on the immediate engine and on the deferred one with losses, duplicates and seeds.
#include <atomic>
#include <chrono>

#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>
#include <chorale/window.hpp>

#include "../support/windows.hpp"
#include "all_calls.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::transport::ud;
using chorale::transport::ud_rdma;
using emulated = chorale::communicator<ud_rdma>;

namespace {

/// Waits until another thread makes `ready` true; false if that takes too long.
template <class Ready>
bool comes(Ready&& ready) {
  const auto give_up = chorale::clock::now() + std::chrono::seconds{instrumented ? 120 : 60};
  while (!ready()) {
    if (chorale::clock::now() > give_up) return false;
    chorale::clock::sleep_for(std::chrono::microseconds{100});
  }
  return true;
}

}  // namespace

TEMPLATE_TEST_CASE("every collective runs over datagrams", "[datagrams]", standard<ud>, standard<ud_rdma>,
                   degree_3<ud_rdma>) {
  for (const int size : {1, 2, 3, 5, 8}) {
    if (too_large(size)) continue;
    barrier_witness witness{size};
    run_ranks<TestType>(size, settings(), [&](auto& comm) {
      // Empty, less than a block, a block and a word, several blocks, and messages that are put.
      check_calls(comm, witness, {0, 1, 2, 1007, 9000, 16384}, seed());
    });
  }
}

TEST_CASE("all messages are put, in small blocks, and few of them", "[datagrams]") {
  auto c = settings();
  c.block_bytes = 256;
  c.blocks = 2;
  c.zero_copy_bytes = 1;
  barrier_witness witness{4};
  run_ranks<emulated>(4, c, [&](emulated& comm) {
    for (std::size_t count = 0; count < 300; count += 23) check_calls(comm, witness, {count}, seed());
  });
}

TEST_CASE("windows over datagrams", "[datagrams]") {
  for (const int size : {1, 2, 3, 4, 7})
    run_ranks<emulated>(size, settings(),
                        [](auto& comm) { windows::all_checks(comm, seed(), instrumented ? 1 : 2); });
}

TEST_CASE("barriers are not acknowledged", "[datagrams]") {
  run_ranks<chorale::communicator<ud_rdma, chorale::barrier::dissemination>>(5, settings(), [](auto& comm) {
    for (int i = 0; i < 200; ++i) comm.barrier();
    const auto s = comm.transport().statistics();
    using windows::expect;
    expect(s.packets == 0 && s.acknowledgements == 0, std::to_string(s.packets) + " packets and " +
                                                          std::to_string(s.acknowledgements) +
                                                          " acknowledgements in barriers");
    // Each barrier has ceil(log2 5) rounds.
    expect(s.signals == 600, std::to_string(s.signals) + " signals for 200 barriers of 5 ranks");
  });
}

TEST_CASE("memory of a rank that computes is read, and losses are retransmitted", "[datagrams]") {
  std::atomic<int> done{0};
  constexpr int size = 4;
  // The parts of rank 0's memory: counters, data written by each other rank, and data read by all of them;
  // separate, since a rank may write before another reads.
  constexpr std::size_t written = 300;
  const auto part_of = [](int rank) { return 100 + written * static_cast<std::size_t>(rank - 1); };
  constexpr std::size_t read_from = 1000;
  REQUIRE(part_of(size) <= read_from);
  run_ranks<emulated>(size, settings(), [&](emulated& comm) {
    std::vector<std::uint64_t> memory(5000, static_cast<std::uint64_t>(comm.rank()));
    chorale::window w{comm, std::span{memory}};
    comm.barrier();
    if (comm.rank() == 0) {
      // Rank 0 makes no call until the others have read, written and counted in its memory.
      if (!comes([&] { return done == size - 1; }))
        throw std::runtime_error("nobody answered for a rank that computes");
    } else {
      std::vector<std::uint64_t> seen(4000, 99);
      w.get(0, read_from, std::span{seen});
      for (const auto v : seen) windows::expect(v == 0, "a read of a rank that computes is wrong");
      for (int i = 0; i < 20; ++i)
        w.accumulate(0, 0, std::span<const std::uint64_t>{seen}.first(1), chorale::sum);
      const std::uint64_t one = 1;
      for (int i = 0; i < 20; ++i) w.accumulate(0, 1, std::span{&one, 1}, chorale::sum);
      const std::vector<std::uint64_t> mine(written, static_cast<std::uint64_t>(comm.rank()));
      w.put(0, part_of(comm.rank()), std::span<const std::uint64_t>{mine});
      w.flush(0);
      ++done;
    }
    w.fence();
    if (comm.rank() == 0) {
      windows::expect(memory[1] == 20 * (size - 1),
                      "additions were lost or came twice: " + std::to_string(memory[1]));
      for (int r = 1; r < size; ++r)
        for (std::size_t i = 0; i < written; ++i)
          windows::expect(memory[part_of(r) + i] == static_cast<std::uint64_t>(r), "a write was lost");
    }
  });
}

TEST_CASE("a broadcast reaches all though its root computes at once", "[datagrams]") {
  constexpr int size = 5;
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> received{0};
    run_ranks<standard<ud>>(size, settings(), [&](auto& comm) {
      word value = comm.rank() == 0 ? 4711U + static_cast<word>(round) : 0;
      comm.broadcast(std::span{&value, 1}, chorale::root{0});
      windows::expect(value == 4711U + static_cast<word>(round), "a broadcast is wrong");
      if (comm.rank() != 0)
        ++received;
      else if (!comes([&] { return received == size - 1; }))
        throw std::runtime_error("what was lost was not sent again by a root that computes");
    });
  }
}

TEST_CASE("no rank waits in vain for an acknowledgement of a rank that has left", "[datagrams]") {
  // The last datagram of a peer may be lost, and the peer cannot be asked any more.
  for (int round = 0; round < 60; ++round) {
    run_ranks<emulated>(2, settings(), [&](emulated& comm) {
      std::vector<word> data(20'000, static_cast<word>(comm.rank()));
      comm.broadcast(std::span{data}, chorale::root{round % 2});
      windows::expect(data.back() == static_cast<word>(round % 2), "a broadcast is wrong");
    });
  }
}

TEST_CASE("accesses outside exposed memory are refused and do no harm", "[datagrams]") {
  const auto attempts = std::initializer_list<const char*>{"bounds", "key", "concealed", "rights"};
  for (const std::string attempt : attempts) {
    std::atomic<int> refused{0};
    std::vector<std::byte> victim(20'000, std::byte{7});
    // After the first barrier, rank 1 stays until rank 0 has tried: the report of the refusal ends the second
    // barrier, or the first if rank 1 is slow to see that rank 0 has entered it.
    const auto stay = [](emulated& comm) {
      try {
        comm.barrier();
        if (comm.rank() == 1) comm.barrier();
      } catch (const chorale::error& e) {
        if (comm.rank() == 0 || std::string{e.what()}.find("refused") == std::string::npos) throw;
      }
    };
    run_ranks<emulated>(2, settings(), [&](emulated& comm) {
      auto& net = comm.transport();
      chorale::remote_region region;
      {
        const auto part = std::span{victim}.subspan(4000, 8000);
        const auto exposed = attempt == "rights" ? net.offer(part) : net.expose(part);
        if (comm.rank() == 1) region = exposed.region();
        comm.broadcast(std::as_writable_bytes(std::span{&region, 1}), chorale::root{1});
        if (attempt != "concealed") stay(comm);
      }
      if (attempt == "concealed") stay(comm);
      if (comm.rank() != 0) return;
      if (attempt == "bounds") region.bytes = 20'000;
      if (attempt == "key") region.key ^= 1;
      const std::vector<std::byte> ones(attempt == "bounds" ? 9000 : 8000, std::byte{1});
      const auto now = net.begin({.what = chorale::operation::window});
      const auto body = [&]() -> chorale::task<> {
        const auto lent = net.lend(ones);
        co_await net.put(region, attempt == "bounds" ? 7000 : 0, lent, ones, now);
        co_await net.flush(1, now);
      };
      chorale::task<> t = body();
      t.resume();
      try {
        t.result();
      } catch (const chorale::error& e) {
        ++refused;
        net.fail(std::current_exception());
        windows::expect(std::string{e.what()}.find("refused") != std::string::npos, e.what());
      }
    });
    INFO(attempt);
    CHECK(refused == 1);
    // Packets within the bounds may have been written, up to the first one beyond.
    const std::size_t allowed = attempt == "bounds" ? 11'000 : 20'000;
    for (std::size_t i = 0; i < victim.size(); ++i)
      if (i < allowed || i >= 12'000) REQUIRE(victim[i] == std::byte{7});
  }
}
