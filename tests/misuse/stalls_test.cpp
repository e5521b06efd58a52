// SPDX-License-Identifier: Apache-2.0
// Programs that poll instead of waiting: they get stall reports, and the errors that would end a wait.
#include <atomic>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

#include <chorale/bootstrap/in_process.hpp>

#include "harness.hpp"

using chorale::errc;
using chorale::request;
using namespace std::chrono_literals;

namespace {

constexpr const char* loops[] = {"test", "test_all", "wait_any", "progress"};

/// Polls until the request is over, in one of the ways that programs use.
void loop(const std::string& how, request& pending) {
  const std::span all{&pending, 1};
  if (how == "wait_any") {
    static_cast<void>(chorale::wait_any(all));
  } else if (how == "test_all") {
    while (!chorale::test_all(all)) std::this_thread::yield();
  } else if (how == "test") {
    while (!pending.test()) std::this_thread::sleep_for(1ms);
  } else {
    for (;;) {
      for (int i = 0; i < 100; ++i) chorale::progress();
      if (pending.test()) return;
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("programs that poll are told of a stall", "[misuse][stalls]", MISUSE_TRANSPORTS) {
  for (const char* how : loops) {
    INFO(how);
    std::atomic<int> reports[3]{};
    std::atomic<bool> right{true};
    const auto all = [&] {
      auto c = misuse::settings();
      c.stall = 100ms;
      c.on_stall = [&](const chorale::stall_report& report) {
        // On a busy machine a barrier may also stall.
        if (report.call.find("allreduce") == std::string::npos) return;
        ++reports[report.rank];
        if (report.others.size() != 2 || report.waited < 100ms ||
            report.text.find("the wait goes on") == std::string::npos)
          right = false;
      };
      return misuse::run<chorale::communicator<TestType>>(3, c, [&](auto& comm) {
        comm.barrier();
        if (comm.rank() == 2)
          for (int i = 0; i < 15'000 && (reports[0] == 0 || reports[1] == 0); ++i)
            std::this_thread::sleep_for(1ms);
        int value = comm.rank();
        auto pending = comm.iallreduce(chorale::in_place, std::span{&value, 1}, chorale::sum);
        if (comm.rank() == 2)
          pending.wait();
        else
          loop(how, pending);
        if (value != 3) throw std::runtime_error("the result is wrong");
      });
    }();
    misuse::check_none_fails(all);
    CHECK(reports[0] > 0);
    CHECK(reports[1] > 0);
    CHECK(right);
  }
}

TEMPLATE_TEST_CASE("what stalls beside the call that a rank waits for is not reported", "[misuse][stalls]",
                   MISUSE_TRANSPORTS) {
  std::atomic<int> waited_for{0}, beside{0};
  std::atomic<bool> is_over{false};
  chorale::bootstrap::run_in_process(2, [&](auto& group) {
    const auto settings = [&is_over](std::atomic<int>& reports) {
      auto c = misuse::settings();
      c.stall = 100ms;
      // Once `is_over`, both ranks wait, and stalls may be reported on a busy machine.
      c.on_stall = [&](const chorale::stall_report&) {
        if (!is_over) ++reports;
      };
      return c;
    };
    chorale::communicator<TestType> one{group, settings(waited_for)};
    chorale::communicator<TestType> two{group, settings(beside)};
    one.barrier();
    request pending;
    if (one.rank() == 0) {
      pending = two.ibarrier();
      one.barrier();
    } else {
      for (int i = 0; i < 15'000 && waited_for < 2; ++i) std::this_thread::sleep_for(1ms);
      is_over = true;
      one.barrier();
      pending = two.ibarrier();
    }
    pending.wait();
  });
  CHECK(waited_for >= 2);
  CHECK(beside == 0);
}

TEMPLATE_TEST_CASE("a rank that has asked once and then computes does not count as waiting",
                   "[misuse][stalls]", chorale::transport::rc, chorale::transport::ud_rdma) {
  std::atomic<bool> reported{false}, waits{false};
  const auto all = [&] {
    auto c = misuse::settings();
    c.stall = 1s;
    c.on_stall = [&](const chorale::stall_report& report) {
      if (report.rank != 1) return;
      if (report.others[0].what == chorale::stall_report::activity::waits) waits = true;
      reported = true;
    };
    return misuse::run<chorale::communicator<TestType>>(2, c, [&](auto& comm) {
      comm.barrier();
      if (comm.rank() == 1) std::this_thread::sleep_for(50ms);
      int value = 1;
      auto pending = comm.iallreduce(chorale::in_place, std::span{&value, 1}, chorale::sum);
      if (comm.rank() == 0) {
        static_cast<void>(pending.test());
        for (int i = 0; i < 15'000 && !reported; ++i) std::this_thread::sleep_for(1ms);
      }
      pending.wait();
      comm.barrier();
    });
  }();
  misuse::check_none_fails(all);
  CHECK(reported);
  CHECK_FALSE(waits);
}

TEMPLATE_TEST_CASE("a stall handler that throws ends the loop", "[misuse][stalls]", MISUSE_TRANSPORTS) {
  for (const char* how : loops) {
    INFO(how);
    auto c = misuse::settings();
    c.stall = 50ms;
    // With few cores the first barrier may also stall, on either rank.
    static thread_local bool loops_now = false;
    c.on_stall = [](const chorale::stall_report&) {
      if (loops_now) throw std::runtime_error("that is enough");
    };
    std::atomic<bool> over{false};
    const auto all = misuse::run<chorale::communicator<TestType>>(2, c, [&](auto& comm) {
      comm.barrier();
      for (int i = 0; comm.rank() == 1 && i < 15'000 && !over; ++i) std::this_thread::sleep_for(1ms);
      auto pending = comm.ibarrier();
      loops_now = true;
      try {
        loop(how, pending);
      } catch (...) {
        over = true;
        throw;
      }
    });
    INFO(misuse::describe(all));
    CHECK(all[0].other == "that is enough");
    // Rank 1 may complete before it receives the failure notice.
    const auto& told = all[1].failure ? all[1].failure : all[1].later;
    REQUIRE(told);
    CHECK(std::string{told->what()}.find("that is enough") != std::string::npos);
  }
}

TEMPLATE_TEST_CASE("programs that poll are told of a mismatch and of a rank that has left",
                   "[misuse][stalls]", MISUSE_TRANSPORTS) {
  for (const char* how : loops) {
    INFO(how);
    for (const bool leaves : {true, false}) {
      for (const int size : {leaves ? 2 : 5}) {
        const auto all = [&] {
          misuse::outcomes seen(static_cast<std::size_t>(size));
          chorale::bootstrap::run_in_process(size, [&](auto& group) {
            chorale::communicator<TestType> comm{group, misuse::settings()};
            int value = 1;
            try {
              // A slow rank may be told of the mistake while it is still here.
              comm.barrier();
              if (comm.rank() == 1 && leaves) return;
              auto pending = comm.rank() == 1
                                 ? comm.ibarrier()
                                 : comm.iallreduce(chorale::in_place, std::span{&value, 1}, chorale::sum);
              loop(how, pending);
            } catch (const chorale::error& e) {
              seen[static_cast<std::size_t>(group.rank())].failure.emplace(e);
            }
          });
          return seen;
        }();
        INFO(misuse::describe(all));
        for (std::size_t r = 0; r < all.size(); ++r) {
          if (r == 1 && leaves) continue;
          CHECK(all[r].is(leaves ? errc::peer_lost : errc::mismatch));
          CHECK(all[r].names(1));
        }
      }
    }
  }
}
