// SPDX-License-Identifier: Apache-2.0
// Ranks with two device ports each: a transport over both, and the errors of ranks that do not match.
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/standard.hpp>
#include <chorale/window.hpp>

#include "ranks.hpp"
#include "two_rails.hpp"

using namespace inprocess;
using chorale::errc;
using over_two_rails =
    chorale::communicator<two_rails, chorale::barrier::dissemination, chorale::broadcast::binomial,
                          chorale::allreduce::recursive_doubling, chorale::alltoall::pairwise>;

namespace {

/// Element `i` of the data of rank `from` for rank `to` in round `round`.
std::uint64_t number_of(int from, int to, std::size_t i, int round) {
  return seed() ^ ((static_cast<std::uint64_t>(from) * 64 + static_cast<std::uint64_t>(to)) * 1'000'003 +
                   i * 7 + static_cast<std::uint64_t>(round) * 977);
}

void check_collectives(over_two_rails& comm, std::size_t count, int round) {
  const int size = comm.size();
  const int rank = comm.rank();
  const int root = round % size;
  std::vector<std::uint64_t> all(count);
  if (rank == root)
    for (std::size_t i = 0; i < count; ++i) all[i] = number_of(root, 0, i, round);
  comm.broadcast(all, chorale::root{root});
  for (std::size_t i = 0; i < count; ++i) expect(all[i] == number_of(root, 0, i, round), "broadcast");

  std::vector<std::uint64_t> sum(count);
  for (std::size_t i = 0; i < count; ++i) sum[i] = number_of(rank, 1, i, round);
  comm.allreduce(chorale::in_place, std::span{sum}, chorale::sum);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t right = 0;
    for (int r = 0; r < size; ++r) right += number_of(r, 1, i, round);
    expect(sum[i] == right, "allreduce");
  }

  std::vector<std::uint64_t> to(count * static_cast<std::size_t>(size));
  std::vector<std::uint64_t> from(to.size());
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = number_of(rank, static_cast<int>(i / std::max<std::size_t>(count, 1)),
                      i % std::max<std::size_t>(count, 1), round);
  comm.alltoall(std::span<const std::uint64_t>{to}, std::span{from});
  for (int r = 0; r < size; ++r)
    for (std::size_t i = 0; i < count; ++i)
      expect(from[static_cast<std::size_t>(r) * count + i] == number_of(r, rank, i, round), "alltoall");
  comm.barrier();
}

/// Puts, gets and atomic operations on all ranks, including this one.
void check_window(over_two_rails& comm) {
  const int size = comm.size();
  const int rank = comm.rank();
  std::vector<std::uint64_t> memory(static_cast<std::size_t>(size) + 1);
  chorale::window w{comm, std::span{memory}};
  for (int r = 0; r < size; ++r) {
    const std::uint64_t mine = number_of(rank, r, 0, 0);
    w.put(r, static_cast<std::size_t>(rank) + 1, std::span{&mine, 1});
    w.flush(r);
    w.fetch_and_op(r, 0, std::uint64_t{1}, chorale::sum);
  }
  w.fence();
  for (int r = 0; r < size; ++r)
    expect(memory[static_cast<std::size_t>(r) + 1] == number_of(r, rank, 0, 0), "put");
  expect(memory[0] == static_cast<std::uint64_t>(size), "atomic operations");
  std::vector<std::uint64_t> seen(1);
  const int next = (rank + 1) % size;
  w.get(next, 1, std::span{seen});
  expect(seen[0] == number_of(0, next, 0, 0), "get");
  w.fence();
}

chorale::config with_short_zero_copy() {
  auto c = settings();
  c.zero_copy_bytes = 4096;
  return c;
}

/// The error of each rank that makes a communicator with `second(rank)` as its second port.
template <class Second>
std::vector<std::optional<chorale::error>> refusals(int size, const Second& second) {
  std::vector<std::optional<chorale::error>> seen(static_cast<std::size_t>(size));
  run_anywhere(size, [&](auto& group) {
    two_rails_parts::second = second(group.rank());
    seen[static_cast<std::size_t>(group.rank())] = support::error_of([&] {
      over_two_rails{group, settings()};
    });
    two_rails_parts::second = {{.device = support::test_device()}};
  });
  return seen;
}

}  // namespace

TEST_CASE("collectives and windows over two device ports", "[ports]") {
  for (const int size : {1, 2, 3, 5, 7, 13}) {
    if (too_large(size)) continue;
    for (const std::uint32_t limit : {0U, 2U}) {
      auto c = with_short_zero_copy();
      c.connections = limit;
      run_ranks<over_two_rails>(size, c, [&](over_two_rails& comm) {
        const auto& ports = comm.transport().core().ports();
        expect(ports.size() == 2, "one device port");
        int round = 0;
        for (const std::size_t count : std::initializer_list<std::size_t>{0, 1, 100, 3000})
          for (int i = 0; i < 3; ++i) check_collectives(comm, count, round++);
        check_window(comm);
        const two_rails_parts& parts = comm.transport().parts();
        const auto made = [](const connections& links) { return links.figures().opened != 0; };
        expect(made(parts.odd()) == (size > 1) && made(parts.even()) == (size > 1), "a rail was not used");
        expect(
            comm.transport().memory().opened == parts.even().figures().opened + parts.odd().figures().opened,
            "the report counts one rail");
        // No rank waits for the others before it leaves.
        double last = comm.rank() == 0 ? 1.5 : 0;
        comm.broadcast(last, chorale::root{0});
        expect(last == 1.5, "the last broadcast");
      });
    }
  }
}

TEST_CASE("communicators are split over two device ports", "[ports]") {
  run_ranks<over_two_rails>(5, with_short_zero_copy(), [](over_two_rails& comm) {
    auto part = comm.split(comm.rank() % 2);
    expect(part->transport().core().ports().size() == 2, "a part has its own ports");
    check_collectives(*part, 3000, 1);
  });
}

TEST_CASE("all ranks get an error that names a second device port that cannot be opened", "[ports]") {
  const auto seen = refusals(3, [](int rank) {
    return std::vector<port_selection>{{.device = rank == 1 ? "nosuch7" : support::test_device()}};
  });
  for (std::size_t r = 0; r < seen.size(); ++r) {
    REQUIRE(seen[r]);
    const std::string text = seen[r]->what();
    INFO("rank " << r << ": " << text);
    CHECK(seen[r]->code() == (r == 1 ? errc::no_device : errc::bootstrap_failed));
    CHECK(text.find("rank 1 of 3") != std::string::npos);
    CHECK(text.find("device port 2 of 2") != std::string::npos);
    CHECK(text.find("nosuch7") != std::string::npos);
    CHECK(seen[r]->ranks() == std::vector<int>{1});
  }
}

TEST_CASE("all ranks get an error that names a port or GID that the second device lacks", "[ports]") {
  for (const bool is_gid : {true, false}) {
    const auto seen = refusals(2, [is_gid](int rank) {
      port_selection wanted{.device = support::test_device()};
      if (rank == 1 && is_gid) wanted.gid_index = 7;
      if (rank == 1 && !is_gid) wanted.port = 3;
      return std::vector{wanted};
    });
    for (const auto& one : seen) {
      REQUIRE(one);
      INFO(one->what());
      CHECK(std::string{one->what()}.find("device port 2 of 2") != std::string::npos);
      CHECK(std::string{one->what()}.find(is_gid ? "7" : "3") != std::string::npos);
      CHECK(one->ranks() == std::vector<int>{1});
    }
  }
}

TEST_CASE("ranks with different numbers of device ports get an error that names both", "[ports]") {
  const auto seen = refusals(5, [](int rank) {
    return std::vector<port_selection>(rank == 3 ? 2 : 1, port_selection{.device = support::test_device()});
  });
  for (std::size_t r = 0; r < seen.size(); ++r) {
    REQUIRE(seen[r]);
    const std::string text = seen[r]->what();
    INFO("rank " << r << ": " << text);
    CHECK(seen[r]->code() == errc::mismatch);
    CHECK(text.find("the number of device ports differs between ranks") != std::string::npos);
    CHECK(text.find(fmt::format("2 ({0}, {0})", support::test_device())) != std::string::npos);
    CHECK(text.find(fmt::format("3 ({0}, {0}, {0}) on rank 3", support::test_device())) != std::string::npos);
  }
}

TEST_CASE("too many ports are refused", "[ports]") {
  const auto many =
      refusals(1, [](int) { return std::vector<port_selection>(16, {.device = support::test_device()}); });
  REQUIRE(many[0]);
  CHECK(many[0]->code() == errc::invalid_argument);
  CHECK(std::string{many[0]->what()}.find("17 device ports") != std::string::npos);
}
