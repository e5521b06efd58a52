// SPDX-License-Identifier: Apache-2.0
// Operands with strides, at random places, compared with contiguous computations of the expected elements.
#include <array>
#include <complex>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/communicator.hpp>
#include <chorale/plan.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>

#include "../support/collectives/spread_buffer.hpp"
#include "random_messages.hpp"
#include "ranks.hpp"

namespace {

namespace transport = chorale::transport;
using chorale::in_place;
using chorale::root;
using collectives::spread_buffer;
using inprocess::message;
using inprocess::random_messages;
using inprocess::run_ranks;
using inprocess::seed;

#define STRIDES_COMMUNICATORS                                                 \
  chorale::communicator<transport::rc>, chorale::communicator<transport::ud>, \
      chorale::communicator<transport::ud_rdma>, chorale::communicator<transport::hybrid<2>>

template <class T>
T element_of(std::size_t block, std::size_t i) {
  return static_cast<T>(static_cast<std::uint16_t>(block * 1009 + i * 7 + 1));
}

/// A rank's part of a plan of messages. About a third of the operands are contiguous.
template <class T>
struct part {
  part(std::vector<message> plan, int rank, std::mt19937& random) : plan_(std::move(plan)), rank_(rank) {
    out_.reserve(plan_.size());
    in_.reserve(plan_.size());
    plain_.reserve(plan_.size());
    for (std::size_t m = 0; m < plan_.size(); ++m) {
      const auto value = [m](std::size_t i) { return element_of<T>(m, i); };
      if (plan_[m].from == rank && random() % 3 == 0) {
        auto& plain = plain_.emplace_back(plan_[m].count);
        for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = value(i);
        sends.push_back(chorale::to(plan_[m].to, plain));
      } else if (plan_[m].from == rank) {
        auto& spread = out_.emplace_back(plan_[m].count, random);
        spread.fill_with(value);
        sends.push_back(chorale::to(plan_[m].to, spread.constant()));
      }
      if (plan_[m].to != rank) continue;
      in_.emplace_back(plan_[m].count, random);
      takes.push_back(chorale::from(plan_[m].from, in_.back().view()));
    }
  }
  void check() const {
    auto next = in_.begin();
    for (std::size_t m = 0; m < plan_.size(); ++m)
      if (plan_[m].to == rank_)
        (next++)->check("message " + std::to_string(m), [m](std::size_t i) { return element_of<T>(m, i); });
  }

  std::vector<chorale::outgoing> sends;
  std::vector<chorale::incoming> takes;

 private:
  std::vector<message> plan_;
  int rank_;
  std::vector<spread_buffer<T>> out_;
  std::vector<std::vector<T>> plain_;
  std::vector<spread_buffer<T>> in_;
};

template <class T, class Comm>
void exchange_at_random(Comm& comm, std::mt19937& random) {
  // All ranks have the same plan; each draws the places of its elements by itself.
  std::mt19937 own(static_cast<unsigned>(random()) + static_cast<unsigned>(comm.rank()));
  const auto plan = random_messages(comm.size(), random);
  part<T> mine{plan, comm.rank(), own};
  comm.exchange(mine.sends, mine.takes);
  mine.check();
  part<T> other{plan, comm.rank(), own};
  comm.iexchange(other.sends, other.takes).wait();
  other.check();
  part<T> planned{plan, comm.rank(), own};
  auto calls = comm.plan_exchange(planned.sends, planned.takes);
  for (int i = 0; i < 2; ++i) {
    calls.run();
    planned.check();
  }
}

/// The element that rank `rank` contributes at index i of its operand.
std::int32_t given(int rank, std::size_t i) {
  return static_cast<std::int32_t>(static_cast<std::size_t>(rank) * 100'003 + i * 3 + 1);
}
/// A buffer of `count` elements contributed by rank `rank`.
spread_buffer<std::int32_t> operand(int rank, std::size_t count, std::mt19937& random) {
  spread_buffer<std::int32_t> made(count, random);
  made.fill_with([rank](std::size_t i) { return given(rank, i); });
  return made;
}
using numbers = spread_buffer<std::int32_t>;

template <class Comm>
void even_blocks(Comm& comm, std::size_t n, int top, std::mt19937& random) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto me = static_cast<std::size_t>(comm.rank());
  const bool is_root = comm.rank() == top;
  const auto gathered = [n](std::size_t i) { return given(static_cast<int>(i / n), i % n); };
  const auto transposed = [n, me](std::size_t i) { return given(static_cast<int>(i / n), me * n + i % n); };

  numbers data = is_root ? operand(top, n, random) : numbers(n, random);
  comm.broadcast(data.view(), root{top});
  data.check("broadcast", [top](std::size_t i) { return given(top, i); });

  numbers mine = operand(comm.rank(), n, random);
  numbers all(n * ranks, random);
  comm.gather(mine.constant(), all.view(), root{top});
  if (is_root) all.check("gather", gathered);
  numbers everywhere(n * ranks, random);
  comm.iallgather(mine.constant(), everywhere.view()).wait();
  everywhere.check("allgather", gathered);
  const auto made = comm.gather(mine.constant(), root{top});
  if (made.has_value() != is_root || (made && made->size() != n * ranks))
    throw collectives::wrong("the result of gather");

  numbers table = operand(top, n * ranks, random);
  numbers share(n, random);
  auto scattered = comm.plan_scatter(table.constant(), share.view(), root{top});
  scattered.run();
  scattered.run();
  share.check("scatter", [&](std::size_t i) { return given(top, me * n + i); });

  numbers rows = operand(comm.rank(), n * ranks, random);
  numbers columns(n * ranks, random);
  comm.alltoall(rows.constant(), columns.view());
  columns.check("alltoall", transposed);
  std::vector<std::int32_t> plain(n * ranks);
  comm.ialltoall(rows.constant(), plain).wait();
  for (std::size_t i = 0; i < plain.size(); ++i)
    if (plain[i] != transposed(i)) throw collectives::wrong("alltoall into contiguous memory");
  comm.alltoall(in_place, rows.view());
  rows.check("alltoall in place", transposed);

  numbers sums(n, random);
  comm.allreduce(mine.constant(), sums.view(), chorale::sum);
  const auto sum_to = [&](std::size_t i, int last) {
    std::int32_t total = 0;
    for (int r = 0; r <= last; ++r) total += given(r, i);
    return total;
  };
  sums.check("allreduce", [&](std::size_t i) { return sum_to(i, comm.size() - 1); });
  numbers before(n, random);
  comm.exscan(mine.constant(), before.view(), chorale::initial{5}, chorale::sum);
  before.check("exscan", [&](std::size_t i) { return 5 + sum_to(i, comm.rank() - 1); });
  comm.scan(in_place, mine.view(), chorale::sum);
  mine.check("scan in place", [&](std::size_t i) { return sum_to(i, comm.rank()); });
  numbers totals(n, random);
  comm.reduce(operand(comm.rank(), n, random).constant(), totals.view(), chorale::sum, root{top});
  if (is_root) totals.check("reduce", [&](std::size_t i) { return sum_to(i, comm.size() - 1); });
  numbers block(n, random);
  comm.reduce_scatter(operand(comm.rank(), n * ranks, random).constant(), block.view(), chorale::sum);
  block.check("reduce_scatter", [&](std::size_t i) { return sum_to(me * n + i, comm.size() - 1); });
}

/// Blocks of rank + `extra` elements each, with `gap` elements between them.
template <class Comm>
void uneven_blocks(Comm& comm, std::size_t extra, std::size_t gap, int top, std::mt19937& random) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto me = static_cast<std::size_t>(comm.rank());
  std::vector<std::size_t> sizes(ranks), places(ranks);
  std::size_t end = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    sizes[r] = r + extra;
    places[r] = end + gap;
    end = places[r] + sizes[r];
  }
  // Elements between the blocks must keep their values.
  const auto is_in = [&](std::size_t i, std::size_t& r) {
    for (r = 0; r < ranks; ++r)
      if (i >= places[r] && i < places[r] + sizes[r]) return true;
    return false;
  };
  const auto blocks_from_all = [&](std::size_t i, auto&& value) {
    std::size_t r = 0;
    return is_in(i, r) ? value(static_cast<int>(r), i - places[r]) : -5;
  };
  const auto blank = [](std::size_t) { return -5; };

  numbers mine = operand(comm.rank(), sizes[me], random);
  numbers all(end, random);
  all.fill_with(blank);
  comm.gatherv(mine.constant(), all.view(), sizes, places, root{top});
  all.check("gatherv", [&](std::size_t i) { return comm.rank() == top ? blocks_from_all(i, given) : -5; });
  numbers everywhere(end, random);
  everywhere.fill_with(blank);
  comm.iallgatherv(mine.constant(), everywhere.view(), sizes, places).wait();
  everywhere.check("allgatherv", [&](std::size_t i) { return blocks_from_all(i, given); });

  numbers table = operand(top, end, random);
  numbers share(sizes[me], random);
  comm.scatterv(table.constant(), sizes, share.view(), places, root{top});
  share.check("scatterv", [&](std::size_t i) { return given(top, places[me] + i); });

  // Rank a sends a + b + extra elements to rank b.
  std::vector<std::size_t> both(ranks), at(ranks);
  std::size_t total = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    both[r] = r + me + extra;
    at[r] = total + gap;
    total = at[r] + both[r];
  }
  numbers out = operand(comm.rank(), total, random);
  numbers in(total, random);
  in.fill_with(blank);
  auto planned = comm.plan_alltoallv(out.constant(), both, in.view(), both, at, at);
  planned.run();
  in.check("alltoallv", [&](std::size_t i) -> std::int32_t {
    for (std::size_t r = 0; r < ranks; ++r) {
      if (i < at[r] || i >= at[r] + both[r]) continue;
      std::size_t there = gap;
      for (std::size_t before = 0; before < me; ++before) there += before + r + extra + gap;
      return given(static_cast<int>(r), there + i - at[r]);
    }
    return -5;
  });
}

}  // namespace

TEMPLATE_TEST_CASE("exchange packs and unpacks messages with strides", "[strides]", STRIDES_COMMUNICATORS,
                   chorale::communicator<transport::rc_send_receive>) {
  inprocess::run_exchanges<TestType>([](auto& comm) {
    std::mt19937 random(static_cast<unsigned>(seed()));
    exchange_at_random<std::int32_t>(comm, random);
    exchange_at_random<std::uint8_t>(comm, random);
    exchange_at_random<std::complex<double>>(comm, random);
  });
}

TEMPLATE_TEST_CASE("collectives take operands with strides, whatever they are", "[strides]",
                   chorale::communicator<transport::rc>, chorale::communicator<transport::ud>) {
  for (const int size : {1, 2, 3, 5, 7}) {
    if (inprocess::too_large(size)) continue;
    run_ranks<TestType>(size, inprocess::settings(), [](auto& comm) {
      std::mt19937 random(static_cast<unsigned>(seed()) + static_cast<unsigned>(comm.rank()));
      for (const int top : {0, comm.size() - 1})
        for (const std::size_t n : {0U, 1U, 6U, 97U, 2310U}) even_blocks(comm, n, top, random);
      for (const std::size_t gap : {0U, 2U})
        for (const std::size_t extra : {0U, 3U, 1000U})
          uneven_blocks(comm, extra, gap, comm.size() / 2, random);
    });
  }
}

TEST_CASE("halo faces of an array may lie between each other, blocks that overlap are refused", "[strides]") {
  using chorale::errc;
  run_ranks<chorale::communicator<transport::rc>>(2, inprocess::settings(), [](auto& comm) {
    const int other = 1 - comm.rank();
    std::vector<int> table(12, comm.rank());
    // The third column goes to the first of the other rank.
    comm.exchange({chorale::to(other, chorale::strided{&table[2], 3, 1, 4})},
                  {chorale::from(other, chorale::strided{table, 3, 1, 4})});
    for (std::size_t i = 0; i < table.size(); ++i)
      if (table[i] != (i % 4 == 0 ? other : comm.rank())) throw collectives::wrong("a column");
    support::refused(errc::invalid_argument, {"overlap"}, [&] {
      static_cast<void>(chorale::from(other, chorale::strided{table, 3, 4, 3}));
    });
    support::refused(errc::invalid_argument, {"overlap"}, [&] {
      comm.broadcast(chorale::strided{table, 3, 4, 3});
    });
    support::refused(errc::invalid_argument, {"gather", "elements"}, [&] {
      comm.gather(chorale::strided{table, 3, 1, 4}, chorale::strided{table, 3, 1, 4}, root{comm.rank()});
    });
    support::refused(errc::invalid_argument, {"broadcast", "null"}, [&] {
      comm.broadcast(chorale::strided{static_cast<int*>(nullptr), 3, 1, 4});
    });
  });
}
