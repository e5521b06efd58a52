// SPDX-License-Identifier: Apache-2.0
// Ranks that name different roots: each error names both roots, even if no message was received.
#include <chorale/bootstrap/in_process.hpp>
#include <chorale/transport/ud.hpp>

#include "harness.hpp"

using chorale::errc;

#define ROOTS_TRANSPORTS MISUSE_TRANSPORTS, chorale::transport::ud

namespace {

/// Some rank detects the mismatch in the call or in the barrier after it, and all are notified by then.
void check_named(const misuse::outcomes& all) {
  INFO(misuse::describe(all));
  bool seen_here = false;
  for (const auto& one : all) {
    const auto& seen = one.failure ? one.failure : one.later;
    REQUIRE(seen);
    CHECK(one.other.empty());
    CHECK((seen->code() == errc::mismatch || seen->code() == errc::poisoned));
    const std::string text = seen->what();
    CHECK(text.find("broadcast") != std::string::npos);
    CHECK(text.find("root 0 against 1") + text.find("root 1 against 0") != 2 * std::string::npos);
    seen_here = seen_here || seen->code() == errc::mismatch;
  }
  CHECK(seen_here);
}

}  // namespace

TEMPLATE_TEST_CASE("broadcast with different roots names both", "[misuse]", ROOTS_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    for (const std::size_t count : {1U, 5000U, 200'000U}) {
      INFO(count << " elements");
      check_named(misuse::run<TestType>(size, [count](auto& comm) {
        std::vector<int> data(count, comm.rank());
        comm.broadcast(std::span{data}, chorale::root{comm.rank() % 2});
      }));
    }
  }
}

TEMPLATE_TEST_CASE("a message that no call has taken is an error of the next call", "[misuse]",
                   ROOTS_TRANSPORTS) {
  // Both are roots: each has sent, and neither has received.
  for (const bool reduces : {false, true}) {
    check_named(misuse::run<TestType>(2, [reduces](auto& comm) {
      int data = 1;
      comm.broadcast(std::span{&data, 1}, chorale::root{comm.rank()});
      if (reduces) static_cast<void>(comm.allreduce(1, chorale::sum));
    }));
  }
}

TEMPLATE_TEST_CASE("a rank that leaves after another call is a mismatch that names both calls", "[misuse]",
                   ROOTS_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    std::vector<std::optional<chorale::error>> seen(static_cast<std::size_t>(size));
    chorale::bootstrap::run_in_process(size, [&](auto& group) {
      chorale::communicator<TestType> comm{group, misuse::settings()};
      comm.barrier();
      seen[static_cast<std::size_t>(comm.rank())] = support::error_of([&] {
        // Rank 1 ends its call and its communicator without sending a message.
        if (comm.rank() == 1) return comm.exchange({}, {});
        int data = 0;
        comm.broadcast(data, chorale::root{1});
      });
    });
    for (int r = 0; r < size; ++r) {
      const auto& failure = seen[static_cast<std::size_t>(r)];
      if (r == 1) continue;
      INFO("rank " << r << " of " << size);
      REQUIRE(failure);
      INFO(failure->what());
      CHECK(failure->code() == errc::mismatch);
      CHECK(std::string{failure->what()}.find("exchange") != std::string::npos);
      CHECK(std::string{failure->what()}.find("broadcast") != std::string::npos);
    }
  }
}
