// SPDX-License-Identifier: Apache-2.0
// The collective buffer of recursive doubling: the alternation of its halves, its growth, and its cost.
#include <array>
#include <vector>

#include <chorale/algorithm/allgather/recursive_doubling.hpp>
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>

#include "../support/collectives/checks.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::transport::hybrid;
using chorale::transport::rc;
using chorale::transport::rc_send_receive;
using chorale::transport::ud;
using chorale::transport::ud_rdma;

namespace {

constexpr std::size_t switch_bytes = 6000;

template <class Transport>
using collecting = chorale::communicator<Transport, chorale::allgather::recursive_doubling_at<switch_bytes>,
                                         chorale::barrier::dissemination>;

/// Sizes for all kinds: by messages, through the buffer, through the buffer and directly, only directly.
constexpr std::array<std::size_t, 14> sizes{700,  1,    2900, 0,  1500,   5999, 1500,
                                            6000, 2999, 3000, 64, 20'000, 1023, 1501};

/// Successive calls of all sizes, in all forms.
template <class Communicator>
void check_places() {
  for (const int size : {1, 2, 3, 4, 5, 7, 8, 13}) {
    if (too_large(size)) continue;
    run_ranks<Communicator>(size, settings(), [](auto& comm) {
      for (std::uint64_t round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          const std::uint64_t s = seed() + 100 * round + i;
          check_allgather<std::byte>(comm, sizes[i], s,
                                     {.nonblocking = (round + i) % 3 == 0,
                                      .in_place = (round + i) % 4 == 1,
                                      .misalignment = i % 3 == 2 ? i : 0});
        }
      }
    });
  }
}

}  // namespace

TEMPLATE_TEST_CASE("blocks that are collected over connections come to their places", "[connections]",
                   collecting<rc>, collecting<hybrid<1>>) {
  check_places<TestType>();
}

TEMPLATE_TEST_CASE("blocks that are collected over datagrams come to their places", "[datagrams]",
                   collecting<ud_rdma>, collecting<ud>) {
  check_places<TestType>();
}

TEST_CASE("concurrent calls alternate between the halves", "[connections]") {
  for (const int size : {3, 4, 7}) {
    run_ranks<collecting<rc>>(size, settings(), [](auto& comm) {
      constexpr std::size_t calls = 5;
      constexpr std::size_t bytes = 2500;
      const auto ranks = static_cast<std::size_t>(comm.size());
      std::vector<std::vector<std::uint8_t>> in;
      std::vector<std::vector<std::uint8_t>> out(calls, std::vector<std::uint8_t>(ranks * bytes));
      const auto value = [](std::size_t call, std::size_t rank) {
        return static_cast<std::uint8_t>(1 + call * 31 + rank * 7);
      };
      for (std::size_t c = 0; c < calls; ++c)
        in.emplace_back(bytes, value(c, static_cast<std::size_t>(comm.rank())));
      std::vector<chorale::request> all;
      for (std::size_t c = 0; c < calls; ++c)
        all.push_back(comm.iallgather(std::span<const std::uint8_t>{in[c]}, std::span{out[c]}));
      for (auto& request : all) request.wait();
      for (std::size_t c = 0; c < calls; ++c)
        for (std::size_t i = 0; i < out[c].size(); ++i)
          expect(out[c][i] == value(c, i / bytes), "a call has another's block");
    });
  }
}

TEMPLATE_TEST_CASE("a collective buffer has at most twice 2M bytes, which are told",
                   "[connections][datagrams]", collecting<rc>, collecting<ud_rdma>) {
  for (const int size : {2, 3, 8}) {
    run_ranks<TestType>(size, settings(), [](auto& comm) {
      const auto kept = [&] { return comm.transport().memory().algorithm_bytes; };
      check_allgather<std::byte>(comm, 100, seed());
      expect(kept() == 0, "memory is kept for messages");
      comm.barrier();
      const std::size_t total = comm.transport().memory().total_bytes();
      for (const std::size_t bytes : sizes) check_allgather<std::byte>(comm, bytes, seed());
      comm.barrier();
      if (comm.size() == 2) {
        expect(kept() == 0, "two ranks have nothing to collect");
      } else {
        expect(kept() >= 2 * 5999, std::to_string(kept()) + " bytes are too few");
        expect(kept() <= 4 * switch_bytes, std::to_string(kept()) + " bytes are more than 4 M");
        expect(comm.transport().memory().total_bytes() >= total + kept(), "they are not told");
      }
    });
  }
}

TEST_CASE("send and receive use no collective buffer, since they cannot put", "[connections]") {
  static_assert(!chorale::keeping_transport<rc_send_receive>);
  static_assert(!chorale::keeping_transport<ud>);
  run_ranks<collecting<rc_send_receive>>(4, settings(), [](auto& comm) {
    for (const std::size_t bytes : sizes) check_allgather<std::byte>(comm, bytes, seed());
    expect(comm.transport().memory().algorithm_bytes == 0, "memory is kept");
  });
}
