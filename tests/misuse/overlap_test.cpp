// SPDX-License-Identifier: Apache-2.0
// Overlapping buffers of one call: in place if that is defined, otherwise rejected before anything is sent.
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness.hpp"

using misuse::group_sizes;

namespace {

/// Elements of a block: none, in one message, in several, zero copy.
const std::vector<std::size_t> block_sizes{0, 1, 5000, 40000};

int element(int from, int to, std::size_t i) {
  return from * 1'000'000 + to * 100'000 + static_cast<int>(i % 100'000);
}

/// The data of one rank for all ranks, or from all ranks.
std::vector<int> row(int size, std::size_t n, const std::function<int(int, std::size_t)>& of) {
  std::vector<int> all;
  for (int r = 0; r < size; ++r)
    for (std::size_t i = 0; i < n; ++i) all.push_back(of(r, i));
  return all;
}

void want(bool right, const std::string& what) {
  if (!right) throw std::runtime_error(what + " is wrong");
}

/// Each call in place, with blocks of n elements, compared with the expected results.
template <class Comm>
void in_place(Comm& comm, std::size_t n) {
  const int size = comm.size();
  const int me = comm.rank();
  const int root = size - 1;
  const auto first = static_cast<std::size_t>(me) * n;
  const auto gathered = row(size, n, [](int r, std::size_t i) { return element(r, 0, i); });
  const auto sent = row(size, n, [me](int r, std::size_t i) { return element(me, r, i); });
  const auto turned = row(size, n, [me](int r, std::size_t i) { return element(r, me, i); });
  const auto own = [&] {
    std::vector<int> all(gathered.size(), -1);
    for (std::size_t i = 0; i < n; ++i) all[first + i] = gathered[first + i];
    return all;
  };
  const auto block_of = [&](std::vector<int>& all) { return std::span{all}.subspan(first, n); };

  auto a = sent;
  comm.alltoall(chorale::in_place, a);
  want(a == turned, "alltoall in place");
  a = sent;
  comm.ialltoall(std::span{a}, a).wait();
  want(a == turned, "ialltoall of one buffer");
  const std::vector<std::size_t> counts(static_cast<std::size_t>(size), n);
  a = sent;
  comm.alltoallv(chorale::in_place, counts, a, counts);
  want(a == turned, "alltoallv in place");

  a = own();
  comm.allgather(chorale::in_place, a);
  want(a == gathered, "allgather in place");
  a = own();
  comm.iallgather(block_of(a), a).wait();
  want(a == gathered, "iallgather of the own block");
  a = own();
  comm.allgatherv(chorale::in_place, a, counts);
  want(a == gathered, "allgatherv in place");

  a = own();
  if (me == root)
    comm.gather(chorale::in_place, a, chorale::root{root});
  else
    comm.gather(block_of(a), chorale::nothing, chorale::root{root});
  want(me != root || a == gathered, "gather in place");
  a = own();
  if (me == root)
    comm.gatherv(block_of(a), a, counts, {}, chorale::root{root});
  else
    comm.gatherv(block_of(a), chorale::nothing, {}, {}, chorale::root{root});
  want(me != root || a == gathered, "gatherv of the own block");

  a = me == root ? gathered : own();
  if (me == root)
    comm.scatter(a, chorale::in_place, chorale::root{root});
  else
    comm.scatter(chorale::nothing, block_of(a), chorale::root{root});
  want(me == root ? a == gathered : a == own(), "scatter in place");

  const auto summed = [&](int r, std::size_t i) {
    return size * (size - 1) / 2 * 1'000'000 + size * (element(0, r, i));
  };
  a = sent;
  comm.reduce_scatter(chorale::in_place, a, chorale::sum);
  auto expected = sent;
  for (std::size_t i = 0; i < n; ++i) expected[first + i] = summed(me, i);
  want(a == expected, "reduce_scatter in place");
  a = sent;
  comm.ireduce_scatter(std::span{a}, block_of(a), counts, chorale::sum).wait();
  want(a == expected, "ireduce_scatter into the own block");
  a = sent;
  comm.reduce(chorale::in_place, a, chorale::max, chorale::root{root});
  want(a == (me == root ? row(size, n, [&](int r, std::size_t i) { return element(root, r, i); }) : sent),
       "reduce in place");
  a = sent;
  comm.scan(std::span{a}, a, chorale::max);
  want(a == sent, "scan of one buffer");
  a = sent;
  comm.iallreduce(chorale::in_place, a, chorale::max).wait();
  want(a == row(size, n, [&](int r, std::size_t i) { return element(root, r, i); }), "allreduce in place");
}

}  // namespace

TEMPLATE_TEST_CASE("buffers of one call that are one", "[misuse]", MISUSE_TRANSPORTS) {
  for (const int size : {1, 2, 3, 4, 7}) {
    const auto all = misuse::run<TestType>(size, [&](auto& comm) {
      for (const std::size_t n : block_sizes) in_place(comm, n);
    });
    misuse::check_all_right(all);
  }
}

TEMPLATE_TEST_CASE("buffers of one call that overlap in part", "[misuse]", MISUSE_TRANSPORTS) {
  for (const int size : group_sizes) {
    for (const std::size_t n : {std::size_t{8}, std::size_t{40000}}) {
      std::vector<std::string> wrong(static_cast<std::size_t>(size));
      const auto all = misuse::run<TestType>(size, [&](auto& comm) {
        const auto ranks = static_cast<std::size_t>(size);
        std::vector<int> memory(n * ranks * 2);
        std::iota(memory.begin(), memory.end(), 0);
        const auto before = memory;
        const std::span<int> everything{memory};
        const auto large = everything.subspan(0, n * ranks);
        const auto shifted = everything.subspan(1, n * ranks);
        // A block that begins in the middle of a rank's block.
        const auto stray = everything.subspan(n / 2, n);
        std::string& mine = wrong[static_cast<std::size_t>(comm.rank())];
        const auto refused = [&](const char* what, const auto& action) {
          try {
            action();
            mine += std::string{what} + " was not refused; ";
          } catch (const chorale::error& e) {
            const std::string text = e.what();
            if (e.code() != chorale::errc::invalid_argument || text.find("overlaps") == std::string::npos)
              mine += text + "; ";
          }
          if (memory != before) mine += std::string{what} + " changed memory; ";
        };
        refused("alltoall", [&] { comm.alltoall(large, shifted); });
        refused("ialltoall", [&] { comm.ialltoall(shifted, large).wait(); });
        refused("allgather", [&] { comm.allgather(stray, large); });
        refused("allreduce", [&] { comm.allreduce(large, shifted, chorale::sum); });
        refused("iallreduce", [&] { comm.iallreduce(large, shifted, chorale::sum).wait(); });
        refused("scan", [&] { comm.scan(shifted, large, chorale::sum); });
        refused("exscan", [&] { comm.exscan(shifted, large, chorale::initial{0}, chorale::sum); });
        refused("reduce_scatter", [&] { comm.reduce_scatter(large, stray, chorale::sum); });
        refused("gather", [&] { comm.gather(stray, large, chorale::root{comm.rank()}); });
        refused("scatter", [&] { comm.scatter(large, stray, chorale::root{comm.rank()}); });
        refused("reduce", [&] { comm.reduce(large, shifted, chorale::sum, chorale::root{comm.rank()}); });
      });
      misuse::check_all_right(all);  // nothing was sent
      for (const auto& text : wrong) CHECK(text == "");
    }
  }
}

TEST_CASE("a single rank moves its own block to an overlapping place", "[misuse]") {
  const auto outcomes =
      misuse::run<chorale::communicator<chorale::transport::rc>>(1, misuse::settings(), [](auto& comm) {
        std::vector<int> all{1, 2, 3, 4, 5, 6, 7};
        const std::vector<std::size_t> five{5};
        comm.alltoallv(all, five, all, five, std::vector<std::size_t>{0}, std::vector<std::size_t>{2});
        want(all == std::vector<int>{1, 2, 1, 2, 3, 4, 5}, "alltoallv of a buffer to itself");
      });
  misuse::check_none_fails(outcomes);
}
