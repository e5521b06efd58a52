// SPDX-License-Identifier: Apache-2.0
// Settings of the mailbox and of waiting change only the speed.
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "../support/collectives/checks.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::wait_policy;
using chorale::transport::rc;
using chorale::transport::ud;

namespace {

template <class Comm>
void run_with(const chorale::config& c) {
  for (const int size : {2, 5, 8}) {
    if (too_large(size)) continue;
    run_ranks<Comm>(size, c, [](auto& comm) {
      const std::size_t block = comm.transport().block_bytes();
      for (const std::size_t bytes :
           {std::size_t{0}, std::size_t{1}, block - 1, block, block + 1, 20 * block + 5}) {
        for (const bool nonblocking : {false, true}) {
          const manner m{.nonblocking = nonblocking};
          check_broadcast<std::byte>(comm, bytes, 1, seed(), m);
          check_reduce<triangle>(comm, bytes / sizeof(triangle), 1, multiply{}, seed(), m);
          check_allreduce<triangle>(comm, bytes / sizeof(triangle), multiply{}, seed(), m);
          check_barrier(comm, m);
        }
      }
    });
  }
}

}  // namespace

TEMPLATE_TEST_CASE("the smallest mailbox", "[settings]", standard<rc>, standard<ud>) {
  auto c = settings();
  c.block_bytes = 256;
  c.blocks = 2;
  run_with<TestType>(c);
}

TEMPLATE_TEST_CASE("an odd number of blocks of an odd size", "[settings]", standard<rc>, standard<ud>) {
  auto c = settings();
  c.block_bytes = 1025;
  c.blocks = 3;
  run_with<TestType>(c);
}

TEMPLATE_TEST_CASE("large blocks, many of them", "[settings]", standard<rc>, standard<ud>) {
  auto c = settings();
  c.block_bytes = 65536;
  c.blocks = 64;
  run_with<TestType>(c);
}

TEMPLATE_TEST_CASE("the smallest packets", "[settings]", standard<rc>, standard<ud>) {
  auto c = settings();
  c.mtu = 256;
  run_with<TestType>(c);
}

TEMPLATE_TEST_CASE("waiting by spinning and by yielding", "[settings]", standard<rc>, standard<ud>) {
  auto c = settings();
  for (const auto wait : {wait_policy::spin, wait_policy::yield}) {
    c.wait = wait;
    run_with<TestType>(c);
  }
}

TEST_CASE("messages of up to a mebibyte", "[settings]") {
  for (const int size : {2, 3, 4, 7}) {
    run_ranks<standard<rc>>(size, settings(), [](auto& comm) {
      for (const std::size_t bytes : {std::size_t{65536}, std::size_t{1} << 20}) {
        check_broadcast<std::byte>(comm, bytes + 1, 1, seed(), {.misalignment = 1});
        check_reduce<std::uint64_t>(comm, bytes / 8, comm.size() - 1, chorale::sum, seed());
        check_allreduce<std::uint64_t>(comm, bytes / 8, chorale::sum, seed(), {.in_place = true});
        check_allreduce<std::uint64_t>(comm, bytes / 8, chorale::sum, seed(), {.nonblocking = true});
      }
    });
  }
}

TEST_CASE("messages are copied up to the size of the setting, or else up to a measured size", "[settings]") {
  for (const int size : {1, 2, 33}) {
    if (too_large(size)) continue;
    run_ranks<standard<rc>>(size, settings(), [](auto& comm) {
      const auto& net = comm.transport();
      const bool own_cores_copy = net.copies_by_core() && !net.oversubscribed();
      const std::size_t measured = net.device().zero_copy_from();
      expect(!net.copies_by_core() || (measured >= 10240 && measured <= 131072),
             "zero copy was measured to begin at " + std::to_string(measured) + " bytes");
      expect(net.zero_copy_bytes() == (own_cores_copy ? (measured + 1023) / 1024 * 1024 : 65536),
             "messages of " + std::to_string(net.zero_copy_bytes()) + " bytes are not copied");
    });
  }
  auto c = settings();
  c.zero_copy_bytes = 777;
  run_ranks<standard<rc>>(2, c, [](auto& comm) {
    expect(comm.transport().zero_copy_bytes() == 777, "the setting does not count");
  });
}

TEMPLATE_TEST_CASE("two communicators of one group are independent", "[settings]", standard<rc>,
                   standard<ud>) {
  run_anywhere(4, [](auto& group) {
    TestType first{group, settings()};
    TestType second{group, settings()};
    std::uint64_t a[64], b[64];
    std::fill(std::begin(a), std::end(a), static_cast<unsigned>(first.rank()) + 1U);
    std::fill(std::begin(b), std::end(b), 1U);
    auto pending = first.iallreduce(chorale::in_place, std::span{a}, chorale::sum);
    second.allreduce(chorale::in_place, std::span{b}, chorale::sum);
    pending.wait();
    if (a[63] != 10 || b[63] != 4) throw wrong("sums of two communicators are mixed up");
  });
}
