// SPDX-License-Identifier: Apache-2.0
// A limit on connections: they are closed and made again while all ranks communicate with each other, and no
// message is lost.
#include <atomic>

#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>

#include "all_calls.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::communicator;
using chorale::transport::rc;
using chorale::transport::rc_send_receive;

namespace {

chorale::config limited(std::uint32_t connections) {
  auto c = settings();
  c.connections = connections;
  return c;
}

/// Ranks make progress until each has at most `limit` connections. When nothing is in flight, every request
/// to close one is granted.
template <class Comm>
void wait_for_quiet(Comm& comm, int limit, std::atomic<int>& content) {
  auto& net = comm.transport();
  const auto give_up = chorale::clock::now() + std::chrono::seconds{30};
  bool counted = false;
  while (content < comm.size()) {
    net.progress();
    if (!counted && net.connections() <= limit) {
      counted = true;
      ++content;
    }
    if (chorale::clock::now() > give_up)
      throw std::runtime_error("rank " + std::to_string(comm.rank()) + " still has " +
                               std::to_string(net.connections()) + " connections, the limit is " +
                               std::to_string(limit));
    chorale::clock::give_way();
  }
}

/// Every rank puts with notification into the memory of every other, reads it back, and counts at rank 0.
template <class Comm>
void check_one_sided(Comm& comm, std::uint64_t seed) {
  auto& net = comm.transport();
  const int rank = comm.rank();
  const int size = comm.size();
  std::vector<word> table(static_cast<std::size_t>(size));
  std::uint64_t counter = 0;
  const auto exposed = net.expose(std::as_writable_bytes(std::span{table}));
  const auto counted = net.expose(std::as_writable_bytes(std::span{&counter, 1}));
  struct both {
    chorale::remote_region table;
    chorale::remote_region counter;
  };
  const std::vector<both> mine{{exposed.region(), counted.region()}};
  std::vector<both> all(static_cast<std::size_t>(size));
  comm.allgather(std::span<const both>{mine}, std::span{all});

  const auto now = net.begin({.what = chorale::operation::window});
  const auto body = [&]() -> chorale::task<> {
    for (int i = 1; i < size; ++i) {
      const int to = (rank + i) % size;
      const auto there = all[static_cast<std::size_t>(to)];
      const word w = element(seed, rank, to, 0);
      const auto source = std::as_bytes(std::span{&w, 1});
      co_await net.put_notified(there.table, static_cast<std::size_t>(rank) * sizeof w, net.lend(source),
                                source, now);
      co_await net.flush(to, now);
      word back = 0;
      const auto into = std::as_writable_bytes(std::span{&back, 1});
      const auto local = net.expose(into);
      co_await net.get(there.table, static_cast<std::size_t>(rank) * sizeof w, local, into, now);
      if (back != w) throw std::runtime_error("what was put is not there");
    }
    if (rank != 0) {
      const auto old = co_await net.fetch_add(all[0].counter, 0, 1, now);
      if ((old & 0xffffffffU) >= static_cast<std::uint64_t>(size))
        throw std::runtime_error("the counter is wrong");
      // Two at once, as by a window while an algorithm is parked.
      const std::uint64_t mark = std::uint64_t{1} << (32 + rank);
      auto first = net.fetch_add(all[0].counter, 0, mark, now);
      auto second = net.fetch_add(all[0].counter, 0, 0 - mark, now);
      net.frames().note_awaited();
      const bool first_is_over = first.poll();
      second.await_ready();
      if (!first_is_over) net.wait(0, now, [&] { return first.poll(); });
      if (first.await_resume() == second.await_resume())
        throw std::runtime_error("an operation has the old value of another one");
    }
    for (int from = 0; from < size; ++from) {
      if (from != rank) co_await net.notified(from, now);
    }
  };
  chorale::task<> t = body();
  t.resume();
  t.result();
  net.complete(now);
  comm.barrier();
  for (int from = 0; from < size; ++from) {
    if (from != rank && table[static_cast<std::size_t>(from)] != element(seed, from, rank, 0))
      throw std::runtime_error("a put is not there");
  }
  if (rank == 0 && counter != static_cast<std::uint64_t>(size - 1))
    throw std::runtime_error("an addition is lost");
}

}  // namespace

TEMPLATE_TEST_CASE("everybody talks to everybody over few connections", "[connections]", rc,
                   rc_send_receive) {
  using comm_type = communicator<TestType>;
  const bool by_write = std::is_same_v<TestType, rc_send_receive> && GENERATE(false, true);
  struct setting {
    int size;
    int limit;
  };
  for (const auto [size, limit] : {setting{8, 2}, setting{8, 4}, setting{13, 3}}) {
    barrier_witness witness{size};
    std::atomic<int> content{0};
    std::atomic<std::uint64_t> made_again{0};
    auto c = limited(static_cast<std::uint32_t>(limit));
    // Few blocks: senders wait for credits, also across closed connections.
    c.blocks = 4;
    c.zero_copy_bytes = 20000;
    c.send_receive_eager_bytes = 1000;
    if (by_write) c.send_receive_eager = chorale::eager_policy::rdma_write;
    run_ranks<comm_type>(size, c, [&, size = size, limit = limit](auto& comm) {
      for (std::size_t round = 0; round < 3; ++round) {
        const auto s = seed() + round;
        check_moves(comm, 1 + round * 17 % 40, s);
        witness.check(comm);
        check_reductions(comm, 3, s);
        check_one_sided(comm, s);
        witness.check(comm);
      }
      check_moves(comm, 6000, seed());
      wait_for_quiet(comm, limit, content);
      witness.check(comm);
      const auto m = comm.transport().memory();
      if (m.closed > 0 && m.opened > static_cast<std::uint64_t>(size - 1)) ++made_again;
      // New connections reuse the pieces of closed ones: the pool is at most as large as at the peak, plus a
      // slab.
      if (m.spare_bytes > (static_cast<std::size_t>(m.peak_connections) + 9) * m.bytes_per_peer)
        throw std::runtime_error(std::to_string(m.spare_bytes) + " spare bytes after at most " +
                                 std::to_string(m.peak_connections) + " connections");
    });
    INFO(size << " ranks, limit " << limit);
    CHECK(made_again > 0);
  }
}

TEST_CASE("a signal that was not awaited yet outlives its connection", "[connections]") {
  constexpr int size = 6;
  std::atomic<int> content{0};
  run_ranks<communicator<rc>>(size, limited(2), [&](auto& comm) {
    auto& net = comm.transport();
    const auto now = net.begin({.what = chorale::operation::barrier});
    const auto signal_all = [&]() -> chorale::task<> {
      for (int i = 1; i < size; ++i) co_await net.signal((comm.rank() + i) % size, now);
    };
    const auto wait_for_all = [&]() -> chorale::task<> {
      for (int from = 0; from < size; ++from) {
        if (from != comm.rank()) co_await net.signalled(from, now);
      }
    };
    chorale::task<> first = signal_all();
    first.resume();
    first.result();
    wait_for_quiet(comm, 2, content);
    if (net.memory().closed == 0) throw std::runtime_error("no connection was closed");
    chorale::task<> second = wait_for_all();
    second.resume();
    second.result();
    net.complete(now);
  });
}

TEST_CASE("without a limit no connection is closed", "[connections]") {
  const auto c = limited(0);
  run_ranks<communicator<rc>>(8, c, [&](auto& comm) {
    check_moves(comm, 5, seed());
    comm.barrier();
    const auto m = comm.transport().memory();
    if (m.connections < 3 || m.opened != static_cast<std::uint64_t>(m.connections) ||
        m.peak_connections != m.connections || m.closed != 0)
      throw std::runtime_error("rank " + std::to_string(comm.rank()) + " has " +
                               std::to_string(m.connections) + " connections");
    // Messages of this size need no staging; every inbox has its blocks, and the report covers all registered
    // memory.
    const std::uint32_t blocks = c.device == "soft0" ? (4U << 20) / 7 / 8256 : 16;
    const std::size_t inbox = chorale::transport::mailbox_layout{c.block_bytes, blocks}.total_bytes();
    if (m.mailbox_bytes != static_cast<std::size_t>(m.connections) * ((inbox + 63) / 64 * 64))
      throw std::runtime_error("mailboxes of " + std::to_string(m.mailbox_bytes) + " bytes");
    if (m.total_bytes() - m.queue_bytes != comm.transport().registered_bytes())
      throw std::runtime_error("the figures do not add up to what is registered");
  });
}
