// SPDX-License-Identifier: Apache-2.0
// Plans that are started twice, awaited without a start, destroyed while they run, or used too late.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <chorale/plan.hpp>

#include "harness.hpp"

using chorale::errc;
using chorale::plan;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t of_somebody_else = 0xfeedfacecafebeef;

/// The text of the errc::misuse that `call` throws.
template <class Call>
std::string refusal(Call&& call) {
  const auto e = support::error_of(call);
  support::expect(e && e->code() == errc::misuse, e ? e->what() : "not refused");
  return e->what();
}

void expect_in(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    misuse::expect(text.find(word) != std::string::npos, "'" + text + "' does not say '" + word + "'");
}

}  // namespace

TEMPLATE_TEST_CASE("a start too many, a wait for nothing, and a plan of nothing", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    misuse::check_all_right(misuse::run<TestType>(size, [](auto& comm) {
      comm.set_name("solver");
      const std::string here = " on rank " + std::to_string(comm.rank());
      std::vector<int> data(2, 1);
      plan sum = comm.plan_allreduce(chorale::in_place, data, chorale::sum);
      sum.wait();
      misuse::expect(sum.test() && data[1] == 1, "a plan that is not running is over");
      sum.start();
      for (const auto& again : {refusal([&] { sum.start(); }), refusal([&] { sum.run(); })})
        expect_in(again, {"communicator 'solver'", "the plan of allreduce of 8 bytes" + here, "call wait()"});
      sum.wait();
      sum.wait();
      // The rejected start has changed nothing.
      sum.run();
      misuse::expect(data[1] == comm.size() * comm.size(), "the sum is wrong");

      plan moved = std::move(sum);
      plan none;
      for (plan* empty : {&sum, &none}) {
        misuse::expect(!empty->valid() && !empty->is_running(), "an empty plan is none");
        expect_in(refusal([&] { empty->start(); }), {"stands for no call"});
        expect_in(refusal([&] { empty->run(); }), {"stands for no call"});
        empty->wait();
        misuse::expect(empty->test(), "an empty plan is over");
      }
    }));
  }
}

TEMPLATE_TEST_CASE("a plan is refused the arguments that its call is refused", "[misuse]",
                   MISUSE_TRANSPORTS) {
  misuse::check_all_right(misuse::run<TestType>(2, [](auto& comm) {
    std::vector<int> data(4), longer(5);
    const std::span<int> nowhere{static_cast<int*>(nullptr), 3};
    const auto refused = [](auto&& make) {
      const auto e = support::error_of([&] { static_cast<void>(make()); });
      return e && e->code() == errc::invalid_argument;
    };
    misuse::expect(refused([&] { return comm.plan_broadcast(data, chorale::root{2}); }),
                   "a root that is not there");
    misuse::expect(refused([&] { return comm.plan_broadcast(nowhere); }), "elements at no address");
    misuse::expect(refused([&] { return comm.plan_allreduce(data, longer, chorale::sum); }),
                   "sizes that differ");
    misuse::expect(refused([&] { return comm.plan_allgather(data, longer); }), "sizes that do not fit");
    misuse::expect(
        refused([&] { return comm.plan_alltoall(std::span{data}.first(2), std::span{data}.subspan(1, 2)); }),
        "buffers that overlap");
    misuse::expect(refused([&] { return comm.plan_exchange({chorale::to(7, data)}, {}); }), "no such peer");
  }));
}

TEMPLATE_TEST_CASE("a plan that ends while it runs waits for its call, or withdraws it", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const bool comes : {true, false}) {
    auto c = misuse::settings();
    c.deadline = comes ? c.deadline : support::short_deadline;
    std::atomic<bool> gone{false};
    std::vector<std::uint64_t> lost(20'000, 1);
    const auto all = misuse::run<chorale::communicator<TestType>>(3, c, [&](auto& comm) {
      std::vector<std::uint64_t> mine(lost.size(), 1);
      comm.barrier();
      if (comm.rank() == 1) {
        {
          plan sum = comm.plan_allreduce(chorale::in_place, lost, chorale::sum);
          sum.start();
        }
        if (comes && lost.back() != 3) throw std::runtime_error("a dropped call is not over");
        std::fill(lost.begin(), lost.end(), of_somebody_else);
        gone = true;
      } else {
        if (!comes) support::await("the plan has ended", [&] { return gone.load(); });
        comm.allreduce(chorale::in_place, mine, chorale::sum);
      }
      comm.barrier();
    });
    INFO(misuse::describe(all));
    CHECK(std::all_of(lost.begin(), lost.end(), [](std::uint64_t n) { return n == of_somebody_else; }));
    for (const auto& one : all) {
      CHECK(one.failed() != comes);
      if (comes) continue;
      CHECK(one.is(errc::poisoned));
      CHECK(one.says({"the plan of allreduce of 160000 bytes", "was destroyed on rank 1"}));
    }
  }
}

TEMPLATE_TEST_CASE("a plan outlives its communicator, and cannot be started then", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : {1, 3}) {
    misuse::check_all_right(misuse::run<TestType>(size, [](auto& comm) {
      std::vector<int> data(40'000, 1);
      std::optional own{comm.duplicate()};
      plan idle = own->plan_allreduce(chorale::in_place, data, chorale::sum);
      plan running = own->plan_barrier();
      idle.run();
      running.start();
      own.reset();
      expect_in(refusal([&] { idle.start(); }),
                {"the plan of allreduce of 160000 bytes on rank " + std::to_string(comm.rank()),
                 "its communicator has ended"});
      // It was completed, or withdrawn if the others had left before.
      if (const auto e = support::error_of([&] { running.wait(); }))
        misuse::expect(e->code() == errc::poisoned || e->code() == errc::peer_lost, e->what());
      expect_in(refusal([&] { running.run(); }), {"its communicator has ended"});
    }));
  }
}

TEMPLATE_TEST_CASE("a plan of a failed communicator says why", "[misuse]", MISUSE_TRANSPORTS) {
  const auto all = misuse::run<TestType>(3, [](auto& comm) {
    std::vector<int> data(3);
    plan sum = comm.plan_allreduce(chorale::in_place, data, chorale::sum);
    plan text = comm.plan_broadcast(data);
    try {
      // The others may fail in their second call before a rank has completed its first.
      sum.run();
      // Rank 2 starts a different call.
      (comm.rank() == 2 ? text : sum).run();
      comm.barrier();
    } catch (const chorale::error& e) {
      if (e.code() != errc::mismatch && e.code() != errc::poisoned) throw;
    }
    misuse::expect(comm.transport().is_poisoned(), "ranks that start different calls fail");
    sum.start();
  });
  misuse::check_all_fail(all, errc::poisoned, {"allreduce", "broadcast"});
}

TEMPLATE_TEST_CASE("a plan is started inside a call of its communicator", "[misuse]", MISUSE_TRANSPORTS) {
  misuse::check_all_right(misuse::run<TestType>(2, [](auto& comm) {
    std::vector<int> data(3, 1);
    plan barrier = comm.plan_barrier();
    bool refused = false;
    const auto add = [&](int a, int b) {
      const auto e = support::error_of([&] { barrier.start(); });
      refused = refused || (e && e->code() == errc::misuse);
      return a + b;
    };
    // Evaluated on at least one rank with every algorithm.
    comm.allreduce(chorale::in_place, data, add);
    const int somewhere = comm.allreduce(refused ? 1 : 0, chorale::sum);
    misuse::expect(somewhere > 0, "an operator has started a plan of its own communicator");
    misuse::expect(!barrier.is_running(), "what was refused runs");
    barrier.run();
  }));
}

TEST_CASE("a plan in another thread", "[misuse]") {
  std::atomic<bool> tried{false};
  std::string said;
  misuse::check_all_right(misuse::run<misuse::over_rc>(3, misuse::settings(), [&](auto& comm) {
    plan first = comm.plan_barrier();
    plan second = comm.plan_barrier();
    if (comm.rank() == 0) {
      first.start();
      std::thread{[&] { said = support::thrown_by([&] { second.start(); }); }}.join();
      tried = true;
      first.wait();
    } else {
      support::await("the other thread has tried", [&] { return tried.load(); });
      first.run();
    }
    // When nothing is pending, another thread may use the communicator and its plans.
    std::async(std::launch::async, [&] { second.run(); }).get();
  }));
  CHECK_THAT(said, Catch::Contains("thread"));
}

TEST_CASE("a plan in a child of fork()", "[misuse]") {
  if (support::threads_watched) return;
  misuse::check_all_right(misuse::run<misuse::over_rc>(2, misuse::settings(), [](auto& comm) {
    std::vector<int> data(3, 1);
    plan sum = comm.plan_allreduce(chorale::in_place, data, chorale::sum);
    sum.run();
    comm.barrier();
    int status = -1;
    if (comm.rank() == 0) {
      const pid_t child = fork();
      if (child == 0) {
        bool right = false;
        try {
          right = refusal([&] { sum.start(); }).find("fork()") != std::string::npos;
          sum = plan{};
        } catch (...) {
          right = false;
        }
        _exit(right ? 0 : 1);
      }
      waitpid(child, &status, 0);
    }
    comm.barrier();
    misuse::expect(comm.rank() != 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0),
                   "the child could start a plan, or not drop it");
    sum.run();
    misuse::expect(data[0] == 4, "the sum is wrong");
  }));
}
