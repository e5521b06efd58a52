// SPDX-License-Identifier: Apache-2.0
// Connections to some peers and datagrams to the rest: every collective, windows, and the limit.
#include <algorithm>
#include <atomic>
#include <string>

#include <chorale/algorithm/alltoall/hybrid_pairwise.hpp>
#include <chorale/topology/all_pairs.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/window.hpp>

#include "../support/windows.hpp"
#include "all_calls.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::transport::hybrid;
using chorale::transport::path_choice;

namespace {

template <class Comm>
void expect_within_limit(Comm& comm) {
  const auto& net = comm.transport();
  const auto m = net.memory();
  windows::expect(m.peak_connections <= net.parts().mailbox().limit(),
                  "rank " + std::to_string(comm.rank()) + " had " + std::to_string(m.peak_connections) +
                      " connections of " + std::to_string(net.parts().mailbox().limit()));
}

/// Calls `step()` until all ranks together have `wanted` connections, or too long; returns their number.
template <class Comm, class Step>
int connect_all(Comm& comm, int wanted, Step&& step) {
  int all = 0;
  for (int i = 0; i < 3000 && all < wanted; ++i) {
    step();
    all = comm.allreduce(comm.transport().connections(), chorale::sum);
  }
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE(
    "every collective runs over connections and datagrams together", "[hybrid]", standard<hybrid<2>>,
    (degree_3<hybrid<3, path_choice::nearest>>), standard<hybrid<0>>,
    (chorale::communicator<hybrid<2, path_choice::asked>, chorale::alltoall::hybrid_pairwise<2>>)) {
  for (const int size : {1, 2, 3, 5, 8}) {
    if (too_large(size)) continue;
    barrier_witness witness{size};
    run_ranks<TestType>(size, settings(), [&](auto& comm) {
      for (const std::size_t count : std::initializer_list<std::size_t>{0, 1, 2, 1007, 9000, 16384}) {
        check_calls(comm, witness, {count}, seed());
        expect_within_limit(comm);
      }
    });
  }
}

TEST_CASE("windows over connections and datagrams together", "[hybrid]") {
  for (const int size : {1, 2, 3, 4, 7})
    run_ranks<standard<hybrid<2>>>(size, settings(), [](auto& comm) {
      windows::all_checks(comm, seed(), instrumented ? 1 : 2);
      expect_within_limit(comm);
    });
}

TEST_CASE("paths switch while messages are in flight, and order is preserved", "[hybrid]") {
  // Signals, messages and notified writes with increasing numbers, from all to all, during the switch.
  constexpr int size = 5;
  std::atomic<int> connected{0};
  run_ranks<standard<hybrid<3>>>(size, settings(), [&](auto& comm) {
    auto& net = comm.transport();
    std::vector<std::uint64_t> inbox(size * 2);
    std::vector<chorale::remote_region> regions(size);
    const auto exposed = net.expose(std::as_writable_bytes(std::span{inbox}));
    const auto mine = exposed.region();
    comm.allgather(std::span<const chorale::remote_region>{&mine, 1}, std::span{regions});
    const int me = comm.rank();
    const auto at = [](int r) { return static_cast<std::size_t>(r); };
    // A fast peer may already write the next value.
    const auto placed = [](std::uint64_t& word) { return std::atomic_ref{word}.load(); };
    for (std::uint64_t round = 1; round <= 300; ++round) {
      const auto now = net.begin({.what = chorale::operation::barrier, .bytes = round});
      std::vector<std::uint64_t> source(size, round);
      const auto lent = net.lend(std::as_bytes(std::span{source}));
      const auto body = [&]() -> chorale::task<> {
        for (int d = 1; d < size; ++d) {
          const int to = (me + d) % size;
          const auto word = std::as_bytes(std::span{source}.subspan(at(to), 1));
          if (round % 3 == 0)
            co_await net.put(regions[at(to)], (size + at(me)) * sizeof round, lent, word, now);
          co_await net.put_notified(regions[at(to)], at(me) * sizeof round, lent, word, now);
          co_await net.send(to, now, word);
          co_await net.signal(to, now);
        }
        for (int d = 1; d < size; ++d) {
          const int from = (me - d + size) % size;
          if (round % 2 == 0) co_await net.signalled(from, now);
          std::uint64_t got = 0;
          {
            auto m = co_await net.receive(from, now);
            std::memcpy(&got, m.bytes().data(), sizeof got);
          }
          if (got != round) throw std::runtime_error("a message has overtaken another");
          co_await net.notified(from, now);
          if (placed(inbox[at(from)]) < round) throw std::runtime_error("a notice has overtaken its write");
          if (placed(inbox[size + at(from)]) < round / 3 * 3)
            throw std::runtime_error("a message has overtaken a write");
        }
        for (int d = 1; d < size; ++d) co_await net.flush((me + d) % size, now);
      };
      chorale::task<> t = body();
      t.resume();
      t.result();
      net.complete(now);
    }
    comm.barrier();
    connected += net.connections();
    comm.barrier();
    expect_within_limit(comm);
  });
  CHECK(connected > 0);
  CHECK(connected <= size * 3);
}

TEST_CASE("the nearest peers get connections, the same on both sides", "[hybrid]") {
  for (const int size : {4, 6, 7, 8}) {
    // Three steps have three partners. In groups of odd size steps come in pairs, and there are four
    // partners.
    const int each = size % 2 == 0 ? 3 : 4;
    std::atomic<int> connections{0};
    // Each rank sends to every other, since only ranks that communicate are connected.
    using pairwise = chorale::communicator<hybrid<3, path_choice::nearest>, chorale::alltoall::pairwise>;
    run_ranks<pairwise>(size, settings(), [&](auto& comm) {
      std::vector<word> all(static_cast<std::size_t>(comm.size()));
      std::vector<word> out = all;
      const int wanted = size * each;
      connections =
          connect_all(comm, wanted, [&] { comm.alltoall(std::span<const word>{all}, std::span{out}); });
      expect_within_limit(comm);
    });
    CHECK(connections == size * each);
  }
}

namespace {

/// Makes alltoalls until every rank has exactly the connections of `Limit` steps.
template <int Limit>
void expect_connections_of_steps(int size) {
  using asking =
      chorale::communicator<hybrid<Limit, path_choice::asked>, chorale::alltoall::hybrid_pairwise<Limit>>;
  const int each = chorale::topology::nearest_steps{size, Limit}.count();
  run_ranks<asking>(size, settings(), [&](auto& comm) {
    std::vector<word> in(static_cast<std::size_t>(size));
    std::vector<word> out = in;
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<word>(comm.rank() * size) + static_cast<word>(i);
    connect_all(comm, each * size, [&] {
      comm.alltoall(std::span<const word>{in}, std::span{out});
      for (std::size_t i = 0; i < out.size(); ++i)
        windows::expect(out[i] == i * out.size() + static_cast<std::size_t>(comm.rank()),
                        "a block is another's");
    });
    windows::expect(comm.transport().connections() == each,
                    "rank " + std::to_string(comm.rank()) + " has " +
                        std::to_string(comm.transport().connections()) + " connections for " +
                        std::to_string(Limit) + " steps, not " + std::to_string(each));
    expect_within_limit(comm);
    comm.barrier();
  });
}

}  // namespace

TEST_CASE("the pairwise alltoall has the connections of its k steps on every rank", "[hybrid]") {
  for (const int size : {2, 3, 4, 5, 6, 7, 8, 13}) {
    if (too_large(size)) continue;
    expect_connections_of_steps<1>(size);
    expect_connections_of_steps<2>(size);
    expect_connections_of_steps<3>(size);
  }
}
