// SPDX-License-Identifier: Apache-2.0
// Many requests of several communicators, awaited together, with failures among them.
#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include <chorale/algorithm/reduce/degree_k.hpp>

#include "harness.hpp"

using chorale::errc;
using chorale::request;
using namespace std::chrono_literals;

TEMPLATE_TEST_CASE("many requests of several communicators", "[misuse][requests]", MISUSE_TRANSPORTS) {
  const auto outcomes = misuse::run<chorale::communicator<TestType>>(4, misuse::settings(), [](auto& comm) {
    auto second = comm.duplicate();
    constexpr int rounds = 12;
    std::vector<request> all;
    std::vector<int> values(rounds, comm.rank());
    for (int i = 0; i < rounds; ++i) {
      auto& on = i % 2 == 0 ? comm : second;
      all.push_back(
          on.iallreduce(chorale::in_place, std::span{&values[static_cast<std::size_t>(i)], 1}, chorale::sum));
    }
    all.emplace_back();
    if (comm.rank() % 2 == 0) {
      std::vector<bool> seen(all.size());
      for (int i = 0; i < rounds; ++i) {
        const std::size_t which = chorale::wait_any(all);
        if (which >= rounds || seen[which] || values[which] != 6)
          throw std::runtime_error("wait_any is wrong");
        seen[which] = true;
      }
      if (chorale::wait_any(all) != all.size())
        throw std::runtime_error("none is left, and wait_any found one");
    } else if (comm.rank() == 1) {
      while (!chorale::test_all(all)) std::this_thread::yield();
    } else {
      chorale::wait_all(all);
    }
    for (const int value : values)
      if (value != 6) throw std::runtime_error("all are over, and a result is wrong");
    if (!chorale::test_all(all) || !chorale::test_all(std::span<request>{}))
      throw std::runtime_error("nothing is left, and it is not over");

    // A rank that only calls progress lets all ranks advance.
    auto late = second.ibarrier();
    if (comm.rank() == 0)
      while (!late.test()) std::this_thread::yield();
    else
      for (const auto until = std::chrono::steady_clock::now() + 20ms;
           std::chrono::steady_clock::now() < until;)
        chorale::progress();
    late.wait();
  });
  misuse::check_none_fails(outcomes);
}

TEMPLATE_TEST_CASE("wait_all throws the first failure when all are over", "[misuse][requests]",
                   MISUSE_TRANSPORTS) {
  const auto outcomes = misuse::run<chorale::communicator<TestType>>(3, misuse::settings(), [](auto& comm) {
    auto second = comm.duplicate();
    second.barrier();  // a rank that was still in duplicate() would fail in it
    std::vector<std::uint64_t> data(40'000, 1);
    std::vector<request> all;
    // On the first communicator rank 0 makes a different call.
    all.push_back(comm.rank() == 0
                      ? comm.iallreduce(chorale::in_place, std::span{data}.first(1), chorale::sum)
                      : comm.ibarrier());
    all.push_back(second.iallreduce(chorale::in_place, std::span{data}.subspan(1), chorale::sum));
    all.push_back(second.ibarrier());
    support::refused(errc::mismatch, {}, [&] { chorale::wait_all(all); });
    for (const auto& one : all)
      if (one.valid()) throw std::runtime_error("wait_all has thrown before all were over");
    if (data[1] != 3 || data.back() != 3) throw std::runtime_error("the call that went well has no result");
    second.barrier();
  });
  misuse::check_none_fails(outcomes);
}

TEMPLATE_TEST_CASE("wait_any ends at the deadline", "[misuse][requests]", MISUSE_TRANSPORTS) {
  auto c = misuse::settings();
  c.deadline = support::short_deadline;
  std::atomic<bool> told{false};
  const auto outcomes = misuse::run<chorale::communicator<TestType>>(2, c, [&](auto& comm) {
    comm.barrier();
    if (comm.rank() == 1) {
      support::await("wait_any has thrown", [&] { return told.load(); });
      comm.barrier();
      return;
    }
    request pending[] = {request{}, comm.ibarrier()};
    try {
      static_cast<void>(chorale::wait_any(pending));
    } catch (...) {
      told = true;
      if (pending[1].valid()) throw std::runtime_error("wait_any has thrown, and the call is not over");
      throw;
    }
  });
  INFO(misuse::describe(outcomes));
  CHECK(outcomes[0].is(errc::deadline));
}

TEMPLATE_TEST_CASE("an operator that runs while its thread waits elsewhere may wait for requests",
                   "[misuse][requests]", MISUSE_TRANSPORTS) {
  using tree = chorale::communicator<TestType, chorale::reduce::degree_k<1>>;
  auto c = misuse::settings();
  c.deadline = {};  // at its deadline, wait_any waits for one request alone
  for (const bool tests_all : {false, true}) {
    std::atomic<bool> is_waiting{false};
    std::atomic<bool> is_combining{false};
    misuse::check_none_fails(misuse::run<tree>(2, c, [&](auto& comm) {
      auto second = comm.duplicate();
      auto third = comm.duplicate();
      request late;
      int x = 1;
      const auto op = [&](int a, int b) {
        is_combining = true;
        if (!tests_all)
          static_cast<void>(chorale::wait_any(late));
        else
          while (!chorale::test_all(late)) std::this_thread::yield();
        return a + b;
      };
      if (comm.rank() == 0)
        late = second.ibarrier();
      else
        support::await("rank 0 waits elsewhere", [&] { return is_waiting.load(); });
      auto sum = comm.ireduce(chorale::in_place, std::span{&x, 1}, op);
      if (comm.rank() == 0) {
        is_waiting = true;
      } else {
        support::await("rank 0 combines", [&] {
          chorale::progress();
          return is_combining.load();
        });
        late = second.ibarrier();
      }
      third.barrier();
      sum.wait();
      late.wait();
      misuse::expect(comm.rank() != 0 || x == 2, "a wrong sum");
    }));
  }
}
