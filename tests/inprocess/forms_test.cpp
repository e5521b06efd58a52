// SPDX-License-Identifier: Apache-2.0
// Every form of each call: ranges of all kinds, values, returned results, separate buffers.
#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/communicator.hpp>
#include <chorale/window.hpp>

#include "../support/anywhere.hpp"
#include "../support/expect.hpp"

namespace {

using ints = std::vector<int>;

void want(bool right, const char* what) {
  if (!right) throw std::runtime_error(std::string{what} + " is wrong");
}

/// Calls that return their results, each with blocks of about m elements.
template <class Comm>
void made(Comm& comm, std::size_t m) {
  const int n = comm.size();
  const int me = comm.rank();
  const int root = n - 1;
  const auto part = [m](int from, int to) {
    return ints(m * static_cast<std::size_t>(to) / 2 + static_cast<std::size_t>(from), from * 100 + to);
  };
  const ints mine(m * static_cast<std::size_t>(me), me);

  ints everyone;
  for (int r = 0; r < n; ++r) everyone.push_back(r);
  want(comm.allgather(me) == everyone, "allgather of a value");
  want(comm.gather(me, chorale::root{root}) == (me == root ? std::optional{everyone} : std::nullopt),
       "gather of a value");
  want(comm.scatter(me == root ? everyone : ints{}, chorale::root{root}) == me, "scatter of values");
  want(comm.alltoall(ints(everyone.size(), me)) == everyone, "alltoall");
  want(comm.allreduce(me, chorale::sum) == n * (n - 1) / 2, "allreduce of a value");
  const auto largest = comm.reduce(me, chorale::max, chorale::root{root});
  want(largest.has_value() == (me == root) && largest.value_or(root) == root, "reduce of a value");
  want(comm.scan(1, chorale::sum) == me + 1 && comm.exscan(1, chorale::initial{0}, chorale::sum) == me,
       "scan of a value");
  want(comm.exscan(1.5, chorale::initial{100}, chorale::sum) == 100 + 1.5 * me, "exscan of a value");

  const auto all = comm.allgatherv(mine);
  const auto at_root = comm.gatherv(mine, chorale::root{root});
  want(at_root.has_value() == (me == root) && (!at_root || at_root->size() == everyone.size()), "gatherv");
  for (int r = 0; r < n; ++r) {
    const ints expected(m * static_cast<std::size_t>(r), r);
    want(ints(all[r].begin(), all[r].end()) == expected, "allgatherv");
    want(!at_root || ints((*at_root)[r].begin(), (*at_root)[r].end()) == expected, "gatherv");
  }
  std::vector<ints> parts;
  for (int r = 0; r < n; ++r) parts.push_back(part(me, r));
  const auto got = comm.alltoallv(parts);
  for (int r = 0; r < n; ++r) want(ints(got[r].begin(), got[r].end()) == part(r, me), "alltoallv");
  want(comm.scatterv(parts, chorale::root{root}) == part(root, me), "scatterv");
}

/// Ranges of all kinds, constant if only read, and separate buffers.
template <class Comm>
void ranges(Comm& comm) {
  const int n = comm.size();
  const int me = comm.rank();
  int array[4] = {me, me, me, me};
  comm.broadcast(array, chorale::root{n - 1});
  want(array[3] == n - 1, "broadcast of an array");
  const std::array<int, 4> twos{2, 2, 2, 2};
  ints out(4);
  const ints sum(4, 2 * n);
  comm.allreduce(twos, out, chorale::sum);
  want(out == sum, "allreduce of two buffers");
  comm.iallreduce(twos, out, chorale::max).wait();
  want(out == ints(4, 2), "iallreduce of two buffers");
  comm.scan(twos, out, chorale::sum);
  want(out == ints(4, 2 * me + 2), "scan of two buffers");
  comm.iexscan(twos, array, chorale::initial{5}, chorale::sum).wait();
  want(array[0] == 5 + 2 * me && array[3] == 5 + 2 * me, "iexscan of two buffers");
  auto device = comm.template allocate<int>(4);
  comm.allreduce(twos, device, chorale::sum);
  want(device[2] == 2 * n, "allreduce into a registered_array");
  if (me == 0)
    comm.reduce(twos, out, chorale::sum);
  else
    comm.reduce(twos, chorale::nothing, chorale::sum);
  want(me != 0 || out == sum, "reduce without a buffer but at the root");
  std::vector<std::size_t> counts;
  for (int r = 0; r < n; ++r) counts.push_back(static_cast<std::size_t>(r));
  const ints ones(static_cast<std::size_t>(n * (n - 1) / 2), 1);
  ints own(static_cast<std::size_t>(me));
  comm.ireduce_scatter(ones, own, counts, chorale::sum).wait();
  want(own == ints(own.size(), n), "ireduce_scatter of blocks of different sizes");
}

/// Variables are buffers of one element, also where a call writes; an operand changes in place only.
template <class Comm>
void variables(Comm& comm) {
  const int n = comm.size();
  const int me = comm.rank();
  const int last = n - 1;
  const chorale::root from_last{last};
  int mine = me + 1, out = -1;
  comm.allreduce(mine, out, chorale::sum);
  want(mine == me + 1 && out == n * (n + 1) / 2, "allreduce into a variable");
  comm.iallreduce(mine, out, chorale::max).wait();
  want(mine == me + 1 && out == n, "iallreduce into a variable");
  comm.plan_scan(mine, out, chorale::sum).run();
  want(mine == me + 1 && out == (me + 1) * (me + 2) / 2, "a plan of a scan into a variable");
  out = -1;
  comm.reduce(mine, out, chorale::max, from_last);
  want(out == (me == last ? n : -1), "reduce into a variable");
  ints table(me == last ? static_cast<std::size_t>(n) : 0);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = 10 * static_cast<int>(i);
  comm.scatter(table, mine, from_last);
  want(mine == 10 * me, "scatter into a variable");
  comm.iscatter(table, out, from_last).wait();
  want(out == 10 * me, "iscatter into a variable");
  comm.gather(mine, table, from_last);
  want(me != last || table[static_cast<std::size_t>(me)] == 10 * me, "gather of a variable");
  comm.allreduce(chorale::in_place, mine, chorale::sum);
  want(mine == 10 * n * (n - 1) / 2, "allreduce of a variable in place");
}

}  // namespace

TEST_CASE("calls take ranges of all kinds, and return their results", "[forms]") {
  for (const int size : {1, 2, 3, 5, 7}) {
    support::run_anywhere(size, [](auto& group) {
      chorale::communicator<> comm{group};
      ranges(comm);
      for (const std::size_t m : std::vector<std::size_t>{0, 1, 10, 20000}) made(comm, m);
    });
  }
  SUCCEED();
}

TEST_CASE("a moved communicator works as its new object, and its old object rejects calls", "[forms]") {
  support::run_anywhere(3, [](auto& group) {
    chorale::communicator<> first{group};
    int value = first.rank();
    chorale::request pending = first.ibroadcast(value, chorale::root{2});
    chorale::window<int, chorale::communicator<>> cells{first, 1};
    auto array = first.allocate<int>(1);
    auto second = std::move(first);
    pending.wait();
    array[0] = second.rank() + 5;
    cells.put((second.rank() + 1) % 3, 0, array);
    cells.fence();
    want(cells.local()[0] == (second.rank() + 2) % 3 + 5, "a window and an array of what was moved");
    want(value == 2 && second.allreduce(1, chorale::sum) == 3, "what was moved");
    // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
    support::refused(chorale::errc::misuse, {}, [&] { first.barrier(); });
    want(second.split(second.rank() % 2)->size() == 2 - second.rank() % 2, "split of what was moved");
  });
  SUCCEED();
}
