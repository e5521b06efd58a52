// SPDX-License-Identifier: Apache-2.0
// Algorithms over slots in memory shared by all ranks of a host: results, mismatches, and hosts without
// shared memory.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <chorale/algorithm/allgather/last_arriver.hpp>
#include <chorale/algorithm/allreduce/last_arriver.hpp>
#include <chorale/algorithm/alltoall/last_arriver.hpp>
#include <chorale/algorithm/alltoall/last_arriver_reads.hpp>
#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/barrier/last_arriver.hpp>
#include <chorale/algorithm/broadcast/last_arriver.hpp>
#include <chorale/algorithm/reduce_scatter/last_arriver.hpp>
#include <chorale/transport/rc.hpp>

#include "../support/collectives/checks.hpp"
#include "ranks.hpp"
#include "slots.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::errc;
using chorale::error;

namespace {

using meeting = chorale::communicator<chorale::transport::rc, chorale::barrier::last_arriver,
                                      chorale::broadcast::last_arriver, chorale::allreduce::last_arriver,
                                      chorale::allgather::last_arriver, chorale::alltoall::last_arriver,
                                      chorale::reduce_scatter::last_arriver>;

/// The alltoall that passes only addresses through slots.
using reading_blocks = chorale::communicator<chorale::transport::rc, chorale::alltoall::last_arriver_reads>;

/// Sizes within the cache line of a flag, slightly larger, around a block, and of several blocks.
constexpr std::size_t counts[] = {1, 0, 6, 7, 100, 1021, 1022, 1023, 3000, 2};

/// With blocks of 256 bytes, slots for long messages have 16 KiB: sizes around a slot, around its share for
/// each of 2, 3, 5 and 8 ranks, and of several parts with a short last one.
constexpr std::size_t long_counts[] = {2047, 2048, 2049, 1024, 1025, 680, 410, 257, 12000, 33, 20011};

template <std::size_t Counts>
void check_calls(meeting& comm, const std::size_t (&all)[Counts]) {
  for (std::size_t i = 0; i < Counts; ++i) {
    const std::uint64_t s = seed() + i;
    const int root = static_cast<int>(i) % comm.size();
    const manner way{.nonblocking = i % 3 == 0, .in_place = i % 4 == 1, .misalignment = i % 2 == 0 ? i : 0};
    check_barrier(comm, way);
    check_broadcast<std::uint16_t>(comm, all[i], root, s, way);
    check_allreduce<std::uint64_t>(comm, all[i], chorale::sum, s, way);
    check_allgather<std::uint16_t>(comm, all[i], s, way);
    check_allgatherv<std::uint16_t>(comm, all[i], s, way);
    check_alltoall<std::uint64_t>(comm, all[i], s, way);
    check_reduce_scatter<std::uint32_t>(comm, all[i], chorale::max, s, way);
  }
}
void check_calls(meeting& comm) {
  check_calls(comm, counts);
}

/// All ranks have an error that names `odd`, of a call between two barriers.
void check_mismatch(int odd, support::action<meeting> body) {
  const auto all = errors_of<meeting>(4, settings(), [&](meeting& comm) {
    comm.barrier();
    body(comm);
    comm.barrier();
  });
  CHECK(count_of(all, errc::mismatch) == 4);
  for (const auto& e : all) CHECK((e && support::names(*e, odd)));
}

/// The operator of one rank's call throws: that call fails with its exception, and those of the other ranks
/// with an error.
void check_one_throws(support::action<meeting> body) {
  std::atomic<int> own{0};
  std::atomic<int> others{0};
  run_anywhere(4, [&](support::any_group& group) {
    meeting comm{group, settings()};
    try {
      if (support::error_of([&] { body(comm); })) ++others;
    } catch (const std::runtime_error&) {
      ++own;
    }
  });
  CHECK(own == 1);
  CHECK(others == 3);
}

/// Fails on the rank that comes last.
struct refusing {
  int operator()(int, int) const { throw std::runtime_error{"no sum today"}; }
};

/// Fails on one rank.
struct refusing_on_one {
  bool refuses;
  int operator()(int a, int b) const {
    if (refuses) throw std::runtime_error{"no sum here"};
    return a + b;
  }
};

}  // namespace

TEST_CASE("data from slots arrives at its destination", "[shared]") {
  for (const int size : {1, 2, 3, 5, 8, 13}) {
    if (!too_large(size)) run_ranks<meeting>(size, settings(), [](auto& comm) { check_calls(comm); });
  }
}

TEST_CASE("long messages arrive part by part", "[shared]") {
  for (const int size : {2, 3, 5, 8}) {
    if (too_large(size)) continue;
    auto with = settings();
    with.block_bytes = 256;
    run_ranks<meeting>(size, with, [](auto& comm) { check_calls(comm, long_counts); });
  }
}

TEST_CASE("messages larger than the last-level cache bypass the caches and arrive", "[shared]") {
  // At least 150 MiB in total, more than usual caches of some 32 MiB. With a larger cache the results are the
  // same.
  run_ranks<meeting>(5, settings(), [](auto& comm) {
    check_alltoall<std::uint8_t>(comm, (std::size_t{3} << 20) + 1, seed(), {.misalignment = 3});
    check_allgather<std::uint64_t>(comm, std::size_t{1} << 20, seed());
  });
}

TEST_CASE("blocks read by other ranks arrive, and may be changed after the call", "[shared]") {
  for (const int size : {1, 2, 3, 5, 8, 13}) {
    if (too_large(size)) continue;
    auto with = settings();
    with.zero_copy_bytes = 256;
    run_ranks<reading_blocks>(size, with, [](auto& comm) {
      for (std::size_t i = 0; i < std::size(counts); ++i) {
        const manner way{
            .nonblocking = i % 3 == 0, .in_place = i % 4 == 1, .misalignment = i % 2 == 0 ? i : 0};
        check_alltoall<std::uint64_t>(comm, counts[i], seed() + i, way);
        check_alltoallv<std::uint16_t>(comm, counts[i], seed() + i, way);
      }
      // One buffer, refilled as soon as a call is over.
      const std::size_t block = 1000;
      std::vector<std::uint32_t> in(block * static_cast<std::size_t>(comm.size()));
      std::vector<std::uint32_t> out(in.size());
      for (std::uint32_t call = 1; call <= 20; ++call) {
        std::fill(in.begin(), in.end(), call * 100 + static_cast<std::uint32_t>(comm.rank()));
        comm.alltoall(std::span<const std::uint32_t>{in}, std::span{out});
        for (std::size_t i = 0; i < out.size(); ++i)
          if (out[i] != call * 100 + i / block) throw std::runtime_error{"a block of another call"};
      }
    });
  }
}

TEST_CASE("a rank that makes a different call is named if addresses pass through slots", "[shared]") {
  auto with = settings();
  with.zero_copy_bytes = 256;
  const auto all = errors_of<reading_blocks>(3, with, [](auto& comm) {
    check_alltoall<std::uint64_t>(comm, 1000, seed());
    const std::size_t block = comm.rank() == 1 ? 500 : 400;
    std::vector<std::uint64_t> in(block * 3);
    std::vector<std::uint64_t> out(in.size());
    comm.alltoall(std::span<const std::uint64_t>{in}, std::span{out});
    comm.barrier();
  });
  CHECK(count_of(all, errc::mismatch) == 3);
}

TEST_CASE("a rank that leaves ends waits if addresses pass through slots", "[shared]") {
  const auto all = errors_of<reading_blocks>(4, settings(), [](auto& comm) {
    check_alltoall<std::uint64_t>(comm, 30000, seed());
    if (comm.rank() != 2) check_alltoall<std::uint64_t>(comm, 30000, seed());
  });
  CHECK(count_of(all, errc::peer_lost) == 3);
}

TEST_CASE("parts of a communicator have separate slots", "[shared]") {
  run_ranks<meeting>(5, settings(), [](auto& comm) {
    check_calls(comm);
    auto part = comm.split(comm.rank() % 2, chorale::key{-comm.rank()});
    check_calls(*part);
    auto copy = comm.duplicate();
    check_calls(copy);
    check_calls(comm);
  });
}

TEST_CASE("the last arriver names the rank that makes a different call", "[shared]") {
  constexpr int odd = 1;
  SECTION("of another size") {
    check_mismatch(odd, [](meeting& comm) {
      std::vector<int> data(comm.rank() == odd ? 3 : 2);
      comm.allreduce(chorale::in_place, std::span{data}, chorale::sum);
    });
  }
  SECTION("another operation") {
    check_mismatch(odd, [](meeting& comm) {
      if (comm.rank() == odd)
        comm.barrier();
      else
        static_cast<void>(comm.allreduce(1, chorale::sum));
    });
  }
  SECTION("of another size, in slots for long messages") {
    check_mismatch(odd, [](meeting& comm) {
      std::vector<int> data(comm.rank() == odd ? 30'000 : 2);
      comm.broadcast(data, chorale::root{3});
    });
  }
  SECTION("one that uses no slots") {
    check_mismatch(odd, [](meeting& comm) {
      if (comm.rank() == odd)
        static_cast<void>(comm.scan(1, chorale::sum));
      else
        comm.barrier();
    });
  }
}

TEST_CASE("an operator that throws on the rank that arrives last fails the call on all ranks", "[shared]") {
  if (left_out_without_slots()) return;
  check_one_throws([](meeting& comm) {
    std::vector<int> data(2, 1);
    comm.allreduce(chorale::in_place, std::span{data}, refusing{});
    comm.barrier();
  });
}

TEST_CASE("an operator that throws in its share of a long message fails the call on all ranks", "[shared]") {
  for (int refuses = 0; refuses < 4; ++refuses) {
    check_one_throws([&](meeting& comm) {
      std::vector<int> data(30'000, 1);
      comm.allreduce(chorale::in_place, std::span{data}, refusing_on_one{comm.rank() == refuses});
    });
  }
}

TEST_CASE("a rank that has left ends waits for its slot", "[shared]") {
  const auto all = errors_of<meeting>(3, settings(), [](auto& comm) {
    comm.barrier();
    if (comm.rank() != 0) comm.barrier();
  });
  CHECK(count_of(all, errc::peer_lost) == 2);
}

TEST_CASE("a rank that leaves between long messages ends waits for its slot", "[shared]") {
  const auto all = errors_of<meeting>(4, settings(), [](auto& comm) {
    check_alltoall<std::uint64_t>(comm, 30000, seed());
    check_broadcast<std::uint64_t>(comm, 30000, 1, seed());
    if (comm.rank() != 2) check_alltoall<std::uint64_t>(comm, 30000, seed());
  });
  CHECK(count_of(all, errc::peer_lost) == 3);
}

TEST_CASE("a nonblocking call learns that a rank has left, though the one it waited for first computes",
          "[shared]") {
  if (left_out_without_slots()) return;
  std::atomic<bool> is_gone{false};
  std::atomic<bool> has_heard{false};
  std::atomic<int> lost{0};
  run_anywhere(3, [&](support::any_group& group) {
    int sum = 1;
    meeting comm{group, settings()};
    comm.barrier();
    const auto wait_for = [](const std::atomic<bool>& flag) {
      while (!flag) chorale::clock::give_way();
    };
    if (comm.rank() == 2) {
      is_gone = true;
      return;
    }
    auto call = comm.iallreduce(chorale::in_place, sum, chorale::sum);
    // Rank 0 has waited for rank 1 first, which is in the call but makes no progress meanwhile.
    if (comm.rank() == 1) wait_for(has_heard);
    wait_for(is_gone);
    const auto e = support::error_of([&] { call.wait(); });
    if (e && e->code() == errc::peer_lost && support::names(*e, 2)) ++lost;
    has_heard = true;
  });
  CHECK(lost == 2);
}

TEST_CASE("a choice among unsuitable algorithms still picks one of them", "[shared]") {
  using only =
      chorale::communicator<chorale::transport::rc, chorale::automatic<chorale::allreduce::last_arriver>>;
  run_ranks<only>(3, settings(), [](auto& comm) {
    const auto why = comm.explain(chorale::operation::allreduce, 8);
    if (why.find("last_arriver") == std::string::npos) throw std::runtime_error(why);
    check_allreduce<std::uint64_t>(comm, 5, chorale::sum, seed());
  });
}
