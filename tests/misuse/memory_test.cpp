// SPDX-License-Identifier: Apache-2.0
// Null buffers, blocks that would be written twice, and nonzero counts without a buffer: rejected on the
// calling rank, before anything is sent.
#include <vector>

#include <chorale/core/elements.hpp>
#include <chorale/window.hpp>

#include "harness.hpp"

using chorale::errc;
using chorale::nothing;

namespace {

/// Each rank makes `call(comm)`, which is rejected with `words`, without other effects.
template <class Transport, class Call>
void check_refused(const std::vector<std::string>& words, Call&& call) {
  for (const int size : misuse::group_sizes) {
    const auto all = misuse::run<Transport>(size, call);
    misuse::check_all_refused(all, errc::invalid_argument, words);
  }
}

std::span<int> nowhere(std::size_t count) {
  return {static_cast<int*>(nullptr), count};
}
template <class Comm>
std::size_t ranks(const Comm& comm) {
  return static_cast<std::size_t>(comm.size());
}

}  // namespace

TEMPLATE_TEST_CASE("null pointers with a count are refused", "[misuse]", MISUSE_TRANSPORTS) {
  const auto null_with = [](std::size_t n) {
    return "the buffer of " + std::to_string(n) + " elements is a null pointer";
  };
  for (const std::size_t n : {std::size_t{3}, std::size_t{100'000}}) {
    const auto text = null_with(n);
    check_refused<TestType>({"broadcast on rank ", text}, [&](auto& c) { c.broadcast(nowhere(n)); });
    check_refused<TestType>({"allreduce on rank ", text},
                            [&](auto& c) { c.allreduce(chorale::in_place, nowhere(n), chorale::sum); });
    check_refused<TestType>({"allreduce on rank ", text}, [&](auto& c) {
      std::vector<int> out(n);
      c.allreduce(nowhere(n), out, chorale::sum);
    });
    check_refused<TestType>({"reduce on rank ", text}, [&](auto& c) {
      c.reduce(nowhere(n), nothing, chorale::sum, chorale::root{c.size() - 1});
    });
    check_refused<TestType>({"allgather on rank ", text}, [&](auto& c) {
      std::vector<int> out(n * ranks(c));
      c.allgather(nowhere(n), out);
    });
    check_refused<TestType>({"gather on rank ", text}, [&](auto& c) {
      std::vector<int> out(n * ranks(c));
      c.gather(nowhere(n), out);
    });
    check_refused<TestType>({"gatherv on rank ", text}, [&](auto& c) {
      std::vector<int> out(n * ranks(c));
      c.gatherv(nowhere(n), out, std::vector<std::size_t>(ranks(c), n));
    });
    check_refused<TestType>({"scatter on rank ", text}, [&](auto& c) {
      const std::vector<int> in(n * ranks(c));
      c.scatter(in, nowhere(n));
    });
    check_refused<TestType>({"reduce_scatter on rank ", text}, [&](auto& c) {
      const std::vector<int> in(n * ranks(c));
      c.reduce_scatter(in, nowhere(n), chorale::sum);
    });
    check_refused<TestType>({"exscan on rank ", text}, [&](auto& c) {
      c.exscan(chorale::in_place, nowhere(n), chorale::initial{0}, chorale::sum);
    });
    check_refused<TestType>({"broadcast on rank ", text}, [&](auto& c) {
      c.broadcast(chorale::elements<std::byte>{nullptr, n, 12});
    });
  }
  check_refused<TestType>({"alltoall on rank "}, [](auto& c) {
    std::vector<int> out(ranks(c));
    c.alltoall(nowhere(ranks(c)), out);
  });
  check_refused<TestType>({"exchange on rank ", "to or from rank 1 is a null pointer"}, [](auto& c) {
    std::vector<int> in(2);
    c.exchange({chorale::to(1, nowhere(2))}, {chorale::from(0, in)});
  });
  check_refused<TestType>({"gatherv on rank ", "the counts are a null pointer"}, [](auto& c) {
    const std::span<const std::size_t> none{static_cast<const std::size_t*>(nullptr), ranks(c)};
    std::vector<int> out(ranks(c));
    c.gatherv(7, out, none, {}, chorale::root{c.rank()});
  });
  check_refused<TestType>({"window: put on rank ", "a null pointer"}, [](auto& c) {
    using comm = std::remove_reference_t<decltype(c)>;
    chorale::window<int, comm> w{c, 4};
    w.put(1, 0, nowhere(2));
  });
  check_refused<TestType>({"window: get on rank ", "a null pointer"}, [](auto& c) {
    using comm = std::remove_reference_t<decltype(c)>;
    chorale::window<int, comm> w{c, 4};
    w.get(1, 0, nowhere(2));
  });
}

TEMPLATE_TEST_CASE("no elements at no address are all right", "[misuse]", MISUSE_TRANSPORTS) {
  const auto all = misuse::run<TestType>(4, [](auto& c) {
    c.broadcast(nowhere(0));
    c.allreduce(nowhere(0), nowhere(0), chorale::sum);
    c.allgather(nowhere(0), nowhere(0));
    c.exchange({chorale::to(chorale::nobody, nowhere(2))}, {});
  });
  misuse::check_none_fails(all);
}

TEMPLATE_TEST_CASE("blocks that are written must not overlap", "[misuse]", MISUSE_TRANSPORTS) {
  check_refused<TestType>({"allgatherv on rank ", "the blocks of ranks 0 and 1 overlap"}, [](auto& c) {
    std::vector<std::size_t> counts(ranks(c), 0);
    std::vector<std::size_t> places(ranks(c), 0);
    counts[0] = counts[1] = 2;
    places[1] = 1;
    std::vector<int> out(3);
    const std::vector<int> mine(counts[static_cast<std::size_t>(c.rank())]);
    c.allgatherv(mine, out, counts, places);
  });
  check_refused<TestType>({"gatherv on rank ", "the blocks of ranks 0 and 1 overlap"}, [](auto& c) {
    std::vector<int> out(ranks(c));
    c.gatherv(7, out, std::vector<std::size_t>(ranks(c), 1), std::vector<std::size_t>(ranks(c), 0),
              chorale::root{c.rank()});
  });
  check_refused<TestType>({"alltoallv on rank ", "the blocks of ranks 0 and 1 overlap"}, [](auto& c) {
    std::vector<int> in(ranks(c));
    std::vector<int> out(ranks(c));
    const std::vector<std::size_t> ones(ranks(c), 1);
    c.alltoallv(in, ones, out, ones, {}, std::vector<std::size_t>(ranks(c), 0));
  });
  // Blocks that are only read may overlap, empty blocks may be anywhere, and the order is arbitrary.
  const auto all = misuse::run<TestType>(4, [](auto& c) {
    std::vector<int> in{c.rank()};
    std::vector<int> out(4);
    const std::vector<std::size_t> ones(4, 1);
    c.alltoallv(in, ones, out, ones, std::vector<std::size_t>(4, 0), std::vector<std::size_t>{3, 2, 1, 0});
    if (out != std::vector<int>{3, 2, 1, 0}) throw std::runtime_error("alltoallv is wrong");
    c.allgatherv(c.rank() == 1 ? in : std::vector<int>{}, out, {0, 1, 0, 0},
                 std::vector<std::size_t>{2, 2, 2, 2});
    if (out[2] != 1) throw std::runtime_error("allgatherv is wrong");
  });
  misuse::check_none_fails(all);
}

TEST_CASE("errors give sizes in elements if there is no buffer", "[misuse]") {
  const auto all = misuse::run<chorale::transport::rc>(
      4, [](auto& c) { c.gather(std::vector<int>(5), nothing, chorale::root{c.rank()}); });
  INFO(misuse::describe(all));
  for (const auto& one : all) CHECK(one.says({"20 elements are needed where 0 are given"}));
}

TEST_CASE("errors give sizes correctly even if their bytes overflow", "[misuse]") {
  const auto all = misuse::run<chorale::transport::rc>(4, [](auto& c) {
    int one = 0;
    std::vector<int> out(2);
    const std::span many{&one, std::size_t{1} << 61};  // per rank, 2^65 bytes in total
    if (c.rank() % 2 == 0)
      c.allgather(many, out);
    else
      c.reduce_scatter(std::span<int>{}, many, chorale::sum);
  });
  INFO(misuse::describe(all));
  for (int r = 0; r < 4; ++r)
    CHECK(all[static_cast<std::size_t>(r)].says(
        {r % 2 == 0 ? "9223372036854775808 elements are needed where 2 are given"
                    : "9223372036854775808 elements are needed where 0 are given"}));
  const auto more = misuse::run<chorale::transport::rc>(1, [](auto& c) {
    int one = 0;
    c.broadcast(std::span{&one, std::size_t{1} << 62});
  });
  INFO(misuse::describe(more));
  CHECK(more[0].says({"4611686018427387904 elements of 4 bytes are more than memory can hold"}));
}

TEST_CASE("the error of a window with a negative size gives the size", "[misuse]") {
  const auto all = misuse::run<chorale::transport::rc>(2, [](auto& c) {
    chorale::window<int, std::remove_reference_t<decltype(c)>> w{c, -3};
  });
  misuse::check_all_fail(all, errc::invalid_argument, {"window on rank ", "-3 elements"});
}
