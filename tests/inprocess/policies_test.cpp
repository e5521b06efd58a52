// SPDX-License-Identifier: Apache-2.0
// Every algorithm over real transports, and the calls that use it. tests/fake tests the results of algorithms
// on groups of all sizes; here each runs once with copied messages and once with zero copy.
#include "policies.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "../fake/candidates.hpp"
#include "../support/collectives/checks.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::transport::rc;
using chorale::transport::ud;

namespace {

/// A call of an algorithm directly over the transport of a communicator.
template <class Net>
void run_call(Net& net, const fake::candidate<Net>& one, std::uint64_t s, std::size_t count, bool uneven) {
  fake::round call{.seed = mixed(s), .count = count, .uneven = uneven};
  call.root = static_cast<int>(call.seed % static_cast<unsigned>(net.size()));
  call.now = net.begin({.what = uneven ? one.also : one.what, .root = call.root, .bytes = count});
  // Ranks are threads here; barrier_test checks that none leaves too early.
  fake::barriers came(static_cast<std::size_t>(net.size()), std::numeric_limits<std::uint64_t>::max());
  chorale::task<> algorithm = one.check(net, call, came);
  algorithm.resume();
  algorithm.result();
  net.require_whole();
  net.complete(call.now);
}

template <class Comm>
void all_algorithms(Comm& comm) {
  auto& net = comm.transport();
  using net_type = std::remove_reference_t<decltype(net)>;
  std::uint64_t s = seed();
  const std::vector<std::size_t> moved{3, net.block_bytes() + 1, 600}, reduced{3, 100};
  for (const auto& one : fake::candidates<net_type>()) {
    try {
      for (const std::size_t count : one.is_reduction ? reduced : moved) {
        run_call(net, one, ++s, count, false);
        if (one.also != chorale::operation::none) run_call(net, one, ++s, count, true);
      }
    } catch (const std::exception& e) {
      throw wrong(one.name + ": " + e.what());
    }
  }
}

/// Broadcasts and allgathers longer than a segment.
template <class Comm>
void segments(Comm& comm) {
  auto& net = comm.transport();
  using net_type = std::remove_reference_t<decltype(net)>;
  std::uint64_t s = seed();
  for (const auto& one : fake::candidates<net_type>())
    if (one.what == chorale::operation::broadcast || one.what == chorale::operation::allgather)
      run_call(net, one, ++s, 300'001, false);
}

/// Sizes around zero, one word, one block and several blocks.
template <class Comm>
std::vector<std::size_t> counts(Comm& comm, std::size_t element) {
  const std::size_t block = comm.transport().block_bytes() / element;
  return {0, 1, 7, 8, 100, block - 1, block, block + 1, 5 * block + 3};
}

template <class Comm>
void all_operations(Comm& comm) {
  std::uint64_t s = seed();
  const auto vary = [&s] {
    const std::uint64_t n = mixed(++s);
    return manner{
        .nonblocking = n % 3 == 0, .in_place = n % 2 == 0, .misalignment = n / 8 % 4 == 0 ? n / 64 % 24 : 0};
  };
  for (const auto count : counts(comm, 1))
    for (const int root : {0, comm.size() / 2, comm.size() - 1})
      check_broadcast<std::byte>(comm, count, root, s, vary());
  for (const auto count : counts(comm, sizeof(triangle))) {
    for (const int root : {0, comm.size() / 2, comm.size() - 1})
      check_reduce<triangle>(comm, count, root, multiply{}, s, vary());
    check_allreduce<triangle>(comm, count, multiply{}, s, vary());
  }
  for (const auto count : counts(comm, sizeof(std::uint64_t)))
    check_allreduce<std::uint64_t>(comm, count, chorale::sum, s, vary());
  for (int i = 0; i < 10; ++i) check_barrier(comm, vary());
}

}  // namespace

TEMPLATE_TEST_CASE("every algorithm runs over a real transport", "[policies]", standard<rc>, standard<ud>) {
  for (const int size : {2, 3, 5, 8}) {
    auto c = settings();
    c.block_bytes = 256;
    if (size == 3) c.blocks = 2;
    run_ranks<TestType>(size, c, [](auto& comm) { all_algorithms(comm); });
    if (!chorale::one_sided_transport<typename TestType::transport_type> || size > 5) continue;
    c.zero_copy_bytes = size % 2 == 0 ? 100 : 1;
    run_ranks<TestType>(size, c, [](auto& comm) { all_algorithms(comm); });
  }
}

TEST_CASE("a long message reaches everyone in segments", "[policies]") {
  for (const int size : {2, 3, 5}) {
    auto c = settings();
    c.zero_copy_bytes = 1000;
    run_ranks<standard<rc>>(size, c, [](auto& comm) { segments(comm); });
  }
}

TEMPLATE_TEST_CASE("calls compute what a serial program computes", "[policies]", standard<rc>, standard<ud>,
                   degree_3<rc>, degree_3<ud>) {
  for (const int size : {1, 2, 3, 5, 8, 13}) {
    if (too_large(size)) continue;
    auto c = settings();
    run_ranks<TestType>(size, c, [](auto& comm) { all_operations(comm); });
    if (!chorale::one_sided_transport<typename TestType::transport_type> || size > 8) continue;
    c.zero_copy_bytes = size % 2 == 0 ? 100 : 1;
    run_ranks<TestType>(size, c, [](auto& comm) { all_operations(comm); });
  }
}
