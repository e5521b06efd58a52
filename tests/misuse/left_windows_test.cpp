// SPDX-License-Identifier: Apache-2.0
// Windows destroyed by an exception: no rank accesses the memory afterwards, and errors are accurate.
#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "window_checks.hpp"

using chorale::errc;
using chorale::window;
using namespace misuse::windows;
using namespace std::chrono_literals;

TEMPLATE_TEST_CASE("a window that one rank leaves by an exception is out of the others' reach", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    const int victim = size / 2;
    constexpr std::size_t count = 5000;
    std::vector<number> memory(count, untouched);
    // The rest of its pages does not belong to the window.
    const auto exposed = std::span{memory}.subspan(100, count - 200);
    std::atomic<int> ready{0};
    std::atomic<bool> gone{false};
    std::atomic<bool> bad_source{false};
    const auto all = misuse::run<TestType>(size, [&](auto& comm) {
      std::vector<number> own(count - 200, 1);
      std::vector<number> source(count - 200, static_cast<number>(comm.rank() + 10));
      if (comm.rank() == victim) {
        try {
          window w{comm, exposed};
          w.put((victim + 1) % comm.size(), 0, std::span<const number>{source});
          support::await("all others are ready", [&] { return ready == comm.size() - 1; });
          throw std::runtime_error("the user's own");
        } catch (const std::runtime_error&) {
          std::fill(source.begin(), source.end(), untouched);
          std::fill(memory.begin(), memory.end(), untouched);
        }
        gone = true;
        comm.barrier();
        return;
      }
      window w{comm, std::span{own}};
      ++ready;
      support::await("a rank has left", [&] { return gone.load(); });
      const auto finish = [&] {
        for (const number n : own) {
          if (n == untouched) bad_source = true;
        }
      };
      try {
        w.put(victim, 0, std::span<const number>{source});
        w.flush(victim);
      } catch (...) {
        finish();
        throw;
      }
      finish();
      complain("a put to a window that has ended is over");
    });
    INFO(misuse::describe(all));
    for (const number n : memory) REQUIRE(n == untouched);
    CHECK(!bad_source);
    for (int r = 0; r < size; ++r) {
      const auto& one = all[static_cast<std::size_t>(r)];
      REQUIRE(one.failure);
      CHECK((one.is(errc::peer_lost) || one.is(errc::poisoned)));
      CHECK(one.says({"window", "exception", "rank " + std::to_string(victim)}));
    }
  }
}

TEMPLATE_TEST_CASE("a window that all ranks leave by an exception harms nothing", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    check_all_right(misuse::run<TestType>(size, [](auto& comm) {
      using comm_type = std::remove_reference_t<decltype(comm)>;
      for (int round = 0; round < 3; ++round) {
        try {
          window<number, comm_type> w{comm, std::size_t{8}};
          w.fetch_and_op((comm.rank() + 1) % comm.size(), 0, number{1}, chorale::sum);
          w.fence();
          expect(w.local()[0] == 1, "an addition is lost");
          throw std::runtime_error("everywhere");
        } catch (const std::runtime_error&) {
        }
      }
    }));
  }
}

TEMPLATE_TEST_CASE("a window that is left while its puts are under way does its communicator no harm",
                   "[misuse]", MISUSE_TRANSPORTS) {
  // The peer answers only from inside its calls, and is late: the window waits for it.
  auto c = misuse::settings();
  c.service = chorale::service_policy::off;
  // Short sources are copied.
  const std::size_t count = GENERATE(std::size_t{100}, std::size_t{8});
  const auto all = misuse::run<chorale::communicator<TestType>>(2, c, [&](auto& comm) {
    using comm_type = std::remove_reference_t<decltype(comm)>;
    const std::vector<number> source(count, 7);
    comm.barrier();
    try {
      window<number, comm_type> w{comm, source.size()};
      if (comm.rank() == 0) {
        w.put(1, 0, source);
      } else {
        std::this_thread::sleep_for(20ms);
        while (w.local().back() != 7) static_cast<void>(w.notified(chorale::any_rank, 0));
      }
      throw std::runtime_error("on each rank");
    } catch (const std::runtime_error&) {
    }
    comm.barrier();
    auto array = comm.template allocate<number>(64);
    comm.allreduce(chorale::in_place, array, chorale::sum);
    try {
      const auto left = std::move(array);
      throw std::runtime_error("with an array");
    } catch (const std::runtime_error&) {
    }
    comm.barrier();
  });
  INFO(misuse::describe(all));
  // On a machine that stalls, the puts may exceed the time that a window waits for them.
  for (const auto& one : all)
    if (one.failed()) CHECK(one.says({"window on rank 0", "left by an exception", "under way"}));
}
