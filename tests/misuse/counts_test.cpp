// SPDX-License-Identifier: Apache-2.0
// Counts that disagree between two ranks: an error that names both ranks and both sizes, and no write outside
// the buffers.
#include <memory>

#include <chorale/algorithm/allgather/direct.hpp>
#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/algorithm/scatter/fetch.hpp>
#include <chorale/transport/ud.hpp>

#include "../support/collectives/cases.hpp"
#include "harness.hpp"

using chorale::errc;

namespace {

namespace transport = chorale::transport;
using composed = chorale::communicator<transport::rc, chorale::alltoall::direct, chorale::allgather::direct,
                                       chorale::scatter::fetch>;
using composed_emulated = chorale::communicator<transport::ud_rdma, chorale::alltoall::direct>;

#define COUNTS_COMMUNICATORS                                                                            \
  chorale::communicator<transport::rc>, chorale::communicator<transport::ud>,                           \
      chorale::communicator<transport::ud_rdma>, chorale::communicator<transport::hybrid<2>>, composed, \
      composed_emulated

/// Numbers of elements that one rank expects and the other sends: short, of several blocks, zero copy, on
/// both sides of the threshold, and zero against nonzero.
struct lengths {
  std::size_t expected;
  std::size_t sent;
};
constexpr lengths all_lengths[] = {
    {10, 9},         {10, 100},    {0, 1},       {1, 0},      {5000, 4500}, {4500, 5000},   {100000, 90000},
    {90000, 100000}, {100000, 10}, {10, 100000}, {0, 100000}, {100000, 0},  {40000, 16000}, {16000, 40000}};

using buffer = collectives::guarded_buffer<int>;

/// The buffers of the ranks, checked when all ranks are done.
struct scene {
  int size;
  lengths n;
  std::vector<std::unique_ptr<buffer>> in;
  std::vector<std::unique_ptr<buffer>> out;

  scene(int ranks, lengths l, std::size_t blocks) : size(ranks), n(l) {
    const std::size_t count = blocks * (3 + std::max(n.expected, n.sent));
    for (int r = 0; r < ranks; ++r) {
      in.push_back(std::make_unique<buffer>(count, 4));
      out.push_back(std::make_unique<buffer>(count, 4));
    }
  }
  [[nodiscard]] std::span<const int> source(int rank, std::size_t count) const {
    return in[static_cast<std::size_t>(rank)]->span().first(count);
  }
  [[nodiscard]] std::span<int> target(int rank, std::size_t count) const {
    return out[static_cast<std::size_t>(rank)]->span().first(count);
  }
  /// Rank `to` has detected the mismatch in the call; rank `from` in the call if `both`, otherwise at the
  /// latest in the next one.
  void check(const misuse::outcomes& all, int to, int from, bool both) const {
    INFO(misuse::describe(all));
    INFO("expected " << n.expected << ", sent " << n.sent);
    const std::vector<std::string> words{std::to_string(4 * n.expected) + " bytes",
                                         std::to_string(4 * n.sent)};
    for (int r = 0; r < size; ++r) {
      const auto& one = all[static_cast<std::size_t>(r)];
      INFO("rank " << r);
      if (r == to || (both && r == from)) CHECK(one.is(errc::mismatch));
      const auto& seen = one.failure ? one.failure : one.later;
      REQUIRE(seen);
      const std::string text = seen->what();
      for (const auto& word : words) CHECK(text.find(word) != std::string::npos);
      CHECK(std::find(seen->ranks().begin(), seen->ranks().end(), to) != seen->ranks().end());
      CHECK(std::find(seen->ranks().begin(), seen->ranks().end(), from) != seen->ranks().end());
      in[static_cast<std::size_t>(r)]->check_guards("what is sent");
      out[static_cast<std::size_t>(r)]->check_guards("what is received");
    }
  }
};

/// Tries each length on one of the group sizes, round-robin.
template <class Body>
void for_all_lengths(Body&& body) {
  std::size_t i = 0;
  for (const lengths& n : all_lengths) body(misuse::group_sizes[i++ % std::size(misuse::group_sizes)], n);
}

/// `special` elements for rank `rank`, and `other` for every other rank.
std::vector<std::size_t> counts_with(int size, int rank, std::size_t special, std::size_t other) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(size), other);
  counts[static_cast<std::size_t>(rank)] = special;
  return counts;
}
std::size_t sum(const std::vector<std::size_t>& counts) {
  std::size_t all = 0;
  for (const std::size_t c : counts) all += c;
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("gatherv: a rank sends another count than the root expects", "[misuse]",
                   COUNTS_COMMUNICATORS) {
  for_all_lengths([](int size, lengths n) {
    const int root = size / 2;
    const int odd = (root + 1) % size;
    const scene here{size, n, static_cast<std::size_t>(size)};
    const auto all = misuse::run<TestType>(size, misuse::settings(), [&](auto& comm) {
      const auto counts = counts_with(size, odd, n.expected, 3);
      comm.gatherv(here.source(comm.rank(), comm.rank() == odd ? n.sent : 3),
                   here.target(comm.rank(), comm.rank() == root ? sum(counts) : 0),
                   std::span<const std::size_t>{counts}, {}, chorale::root{root});
    });
    here.check(all, root, odd, false);
  });
}

TEMPLATE_TEST_CASE("scatterv: a rank takes another count than the root sends", "[misuse]",
                   COUNTS_COMMUNICATORS) {
  for_all_lengths([](int size, lengths n) {
    const int root = size - 1;
    const int odd = (root + 1) % size;
    const scene here{size, n, static_cast<std::size_t>(size)};
    const auto all = misuse::run<TestType>(size, misuse::settings(), [&](auto& comm) {
      const auto counts = counts_with(size, odd, n.sent, 3);
      comm.scatterv(here.source(comm.rank(), comm.rank() == root ? sum(counts) : 0),
                    std::span<const std::size_t>{counts},
                    here.target(comm.rank(), comm.rank() == odd ? n.expected : 3), {}, chorale::root{root});
    });
    here.check(all, odd, root, false);
  });
}

TEMPLATE_TEST_CASE("alltoallv: two ranks do not agree about one block", "[misuse]", COUNTS_COMMUNICATORS) {
  for_all_lengths([](int size, lengths n) {
    const int to = 1;
    const int from = 0;
    const scene here{size, n, static_cast<std::size_t>(size)};
    const auto all = misuse::run<TestType>(size, misuse::settings(), [&](auto& comm) {
      const int me = comm.rank();
      const auto sent = counts_with(size, to, me == from ? n.sent : 2, 2);
      const auto taken = counts_with(size, from, me == to ? n.expected : 2, 2);
      comm.alltoallv(here.source(me, sum(sent)), std::span<const std::size_t>{sent},
                     here.target(me, sum(taken)), std::span<const std::size_t>{taken});
    });
    here.check(all, to, from, true);
  });
}

TEMPLATE_TEST_CASE("allgatherv and reduce_scatter: one rank has other counts than the rest", "[misuse]",
                   COUNTS_COMMUNICATORS) {
  for_all_lengths([](int size, lengths n) {
    // Rank 0's size of the last rank's block.
    const int block = size - 1;
    const scene here{size, n, static_cast<std::size_t>(size)};
    for (const bool reduces : {false, true}) {
      const auto all = misuse::run<TestType>(size, misuse::settings(), [&](auto& comm) {
        const int me = comm.rank();
        const auto counts = counts_with(size, block, me == 0 ? n.expected : n.sent, 2);
        const std::size_t own = counts[static_cast<std::size_t>(me)];
        if (reduces)
          comm.reduce_scatter(here.source(me, sum(counts)), here.target(me, own),
                              std::span<const std::size_t>{counts}, chorale::sum);
        else
          comm.allgatherv(here.source(me, own), here.target(me, sum(counts)),
                          std::span<const std::size_t>{counts});
      });
      INFO(misuse::describe(all));
      INFO("expected " << n.expected << ", sent " << n.sent);
      const std::string whose = "in the block of rank " + std::to_string(block);
      for (int r = 0; r < size; ++r) {
        const auto& one = all[static_cast<std::size_t>(r)];
        const auto& seen = one.failure ? one.failure : one.later;
        REQUIRE(seen);
        CHECK(std::string{seen->what()}.find(whose) != std::string::npos);
        here.in[static_cast<std::size_t>(r)]->check_guards("what is sent");
        here.out[static_cast<std::size_t>(r)]->check_guards("what is received");
      }
      CHECK(all[0].is(errc::mismatch));
    }
  });
}
