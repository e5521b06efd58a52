// SPDX-License-Identifier: Apache-2.0
// Two threads in one communicator, and calls from inside a call: rejected at their beginning.
#include <atomic>
#include <future>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

#include <chorale/sparse_alltoall.hpp>
#include <chorale/window.hpp>

#include "harness.hpp"

using chorale::errc;
using namespace std::chrono_literals;

namespace {

/// Calls `body` on a separate thread and returns its error, if any.
template <class Body>
std::optional<chorale::error> on_another_thread(Body&& body) {
  std::optional<chorale::error> failure;
  std::thread{[&] { failure = support::error_of(body); }}.join();
  return failure;
}

/// A barrier of all ranks, which rank 0 makes on a separate thread. Meanwhile another thread tries `intrude`;
/// `refused` is its error, and `tried` lets the other ranks enter.
template <class Comm, class Intrude>
void intrude_into_barrier(Comm& comm, std::atomic<bool>& tried, std::optional<chorale::error>& refused,
                          Intrude&& intrude) {
  if (comm.rank() != 0) {
    support::await("the intruder has tried", [&] { return tried.load(); });
    comm.barrier();
    return;
  }
  std::atomic<bool> inside{false};
  auto innocent = std::async(std::launch::async, [&] {
    inside = true;
    comm.barrier();
  });
  support::await("a thread is inside", [&] { return inside.load(); });
  std::this_thread::sleep_for(misuse::instrumented ? 200ms : 50ms);
  refused = on_another_thread(intrude);
  tried = true;
  innocent.get();
}

/// Rank 0 waits for the others in a barrier, on a separate thread, while `intrude(comm)` is tried; returns
/// the error of that. The calls of all other threads must succeed.
template <class Transport, class Intrude>
void check_intruder(int size, Intrude&& intrude) {
  std::atomic<bool> tried{false};
  std::optional<chorale::error> refused;
  const auto all = misuse::run<Transport>(size, [&](auto& comm) {
    comm.barrier();
    intrude_into_barrier(comm, tried, refused, [&] { intrude(comm); });
  });
  INFO(misuse::describe(all));
  for (const auto& one : all) {
    CHECK(!one.failed());
    CHECK(!one.later);
  }
  REQUIRE(refused);
  INFO(refused->what());
  CHECK(refused->code() == errc::misuse);
  CHECK(std::string{refused->what()}.find("one thread at a time") != std::string::npos);
  CHECK(std::string{refused->what()}.find("duplicate()") != std::string::npos);
}

}  // namespace

TEMPLATE_TEST_CASE("a second thread is refused, and the call under way goes on", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    check_intruder<TestType>(size, [](auto& comm) { static_cast<void>(comm.allreduce(1, chorale::sum)); });
    check_intruder<TestType>(size, [](auto& comm) { comm.ibarrier().wait(); });
    check_intruder<TestType>(size, [](auto& comm) { static_cast<void>(comm.duplicate()); });
  }
}

TEMPLATE_TEST_CASE("window calls beside collective calls of another thread are refused", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    std::atomic<bool> tried{false};
    std::optional<chorale::error> refused;
    const auto all = misuse::run<TestType>(size, [&](auto& comm) {
      std::vector<int> cells(4);
      chorale::window window{comm, std::span{cells}};
      const int one = 1;
      intrude_into_barrier(comm, tried, refused, [&] { window.put(1, 0, std::span<const int>{&one, 1}); });
    });
    INFO(misuse::describe(all));
    for (const auto& one : all) CHECK(!one.failed());
    REQUIRE(refused);
    INFO(refused->what());
    CHECK(refused->code() == errc::misuse);
  }
}

TEMPLATE_TEST_CASE("nonblocking calls are completed by the thread that began them", "[misuse]",
                   MISUSE_TRANSPORTS) {
  std::atomic<bool> tried{false};
  std::optional<chorale::error> refused;
  const auto all = misuse::run<TestType>(4, [&](auto& comm) {
    if (comm.rank() != 0) {
      support::await("the intruder has tried", [&] { return tried.load(); });
      comm.barrier();
    } else {
      auto pending = comm.ibarrier();
      refused = on_another_thread([&] { static_cast<void>(pending.test()); });
      tried = true;
      pending.wait();
    }
    // When nothing is pending, another thread may use the communicator.
    std::async(std::launch::async, [&] { comm.barrier(); }).get();
  });
  INFO(misuse::describe(all));
  for (const auto& one : all) CHECK(!one.failed());
  REQUIRE(refused);
  CHECK(refused->code() == errc::misuse);
}

TEMPLATE_TEST_CASE("a collective call from a reduction operator of the same communicator", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const bool nonblocking : {false, true}) {
    const auto all = misuse::run<TestType>(4, [&](auto& comm) {
      const auto op = [&](int a, int b) {
        comm.barrier();
        return a + b;
      };
      int x = 1;
      if (nonblocking)
        comm.iallreduce(chorale::in_place, std::span{&x, 1}, op).wait();
      else
        comm.allreduce(chorale::in_place, std::span{&x, 1}, op);
    });
    misuse::check_all_fail(all, errc::misuse, {"from inside another call"});
  }
}

TEMPLATE_TEST_CASE("what is refused inside a call leaves no trace in later calls", "[misuse]",
                   MISUSE_TRANSPORTS) {
  misuse::check_none_fails(misuse::run<TestType>(4, [](auto& comm) {
    using comm_type = std::remove_reference_t<decltype(comm)>;
    chorale::sparse_alltoall sparse{comm};
    const std::vector<int> mine{comm.rank(), 7};
    const auto refused = [](auto&& call) {
      support::refused(errc::misuse, {"from inside another call"}, call);
    };
    // Not all ranks combine anything.
    const auto op = [&](int a, int b) {
      refused([&] { chorale::window<int, comm_type>{comm, std::size_t{1}}; });
      refused([&] { static_cast<void>(sparse.template run<int>({chorale::to(comm.rank(), mine)})); });
      refused([&] { static_cast<void>(comm.template allocate<int>(1)); });
      refused([&] { static_cast<void>(comm.explain(chorale::operation::allreduce, 8)); });
      return a + b;
    };
    int x = 1;
    comm.reduce(chorale::in_place, std::span{&x, 1}, op);
    chorale::window<int, comm_type> made{comm, std::size_t{1}};
    made.fence();
    const int right = (comm.rank() + 1) % comm.size();
    const int left = (comm.rank() + comm.size() - 1) % comm.size();
    for (int round = 0; round < 3; ++round) {
      const auto got = sparse.template run<int>({chorale::to(right, mine)});
      misuse::expect(
          got.size() == 1 && got.front().source == left && got.front().data == std::vector<int>{left, 7},
          "other messages have arrived than were sent");
    }
  }));
}
