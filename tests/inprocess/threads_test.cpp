// SPDX-License-Identifier: Apache-2.0
// Several threads of a rank, each with its own communicator.
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "../support/collectives/checks.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::transport::rc;
using chorale::transport::ud;

TEMPLATE_TEST_CASE("threads use different communicators at once", "[threads]", standard<rc>, standard<ud>) {
  if (left_out_in_virtual_time("threads that are no ranks have no virtual time")) return;
  for (const int size : {1, 2, 4}) {
    run_ranks<TestType>(size, settings(), [&](auto& comm) {
      constexpr int threads = 3;
      std::vector<TestType> own;
      for (int t = 0; t < threads; ++t)
        own.push_back(*comm.split(0, chorale::key{t % 2 == 0 ? comm.rank() : -comm.rank()}));
      std::mutex mutex;
      std::exception_ptr failure;
      std::vector<std::thread> running;
      for (int t = 0; t < threads; ++t) {
        running.emplace_back([&, t] {
          try {
            TestType& mine = own[static_cast<std::size_t>(t)];
            const std::uint64_t base = seed() + static_cast<unsigned>(t);
            for (unsigned i = 0; i < (instrumented ? 20 : 50); ++i) {
              // All threads make equally many calls, but different ones at a time.
              check_allreduce<triangle>(mine, (base + i) % 400, multiply{}, base + i, {});
              check_broadcast<std::uint64_t>(mine, 5000, static_cast<int>(i) % size, base + i, {});
              auto begun = mine.ibarrier();
              mine.barrier();
              begun.wait();
            }
            // Made on this thread while the others continue.
            mine.duplicate().barrier();
          } catch (...) {
            const std::lock_guard lock{mutex};
            failure = std::current_exception();
          }
        });
      }
      for (int i = 0; i < 50; ++i) comm.barrier();
      for (auto& t : running) t.join();
      if (failure) std::rethrow_exception(failure);
    });
  }
}

TEST_CASE("a communicator may be handed to another thread", "[threads]") {
  if (left_out_in_virtual_time("threads that are no ranks have no virtual time")) return;
  run_ranks<standard<rc>>(3, settings(), [](auto& comm) {
    std::optional part{comm.duplicate()};
    part->ibarrier().wait();
    std::exception_ptr failure;
    std::thread other{[&] {
      try {
        auto begun = part->ibarrier();
        part->barrier();
        begun.wait();
        // Destroyed with a call that is never awaited.
        static_cast<void>(part->ibarrier().test());
      } catch (...) {
        failure = std::current_exception();
      }
    }};
    other.join();
    part.reset();
    if (failure) std::rethrow_exception(failure);
    comm.barrier();
  });
}
