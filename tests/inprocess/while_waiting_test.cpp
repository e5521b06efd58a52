// SPDX-License-Identifier: Apache-2.0
// Waits that drive another library, whose messages arrive only while their sender drives it.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <chorale/bootstrap/in_process.hpp>
#include <chorale/core/while_waiting.hpp>
#include <chorale/request.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud_rdma.hpp>
#include <chorale/window.hpp>

#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::while_waiting;
using chorale::transport::rc;
using chorale::transport::ud_rdma;

namespace {

/// A message of another library from rank 1 to rank 0.
class slow_message {
 public:
  /// Rank 1: drives it. @returns true if it is outstanding.
  bool drive() {
    ++times_driven_;
    return --left_ > 0;
  }
  /// Rank 0: receives it.
  void await() const {
    support::await("the message of another library comes", [this] { return left_ <= 0; });
  }
  void send() { left_ = pieces; }
  [[nodiscard]] int times_driven() const { return times_driven_; }

 private:
  static constexpr int pieces = 20;
  std::atomic<int> left_{pieces};
  std::atomic<int> times_driven_{0};
};

/// Rank 1 waits in `waits(comm)`, which rank 0 enters once it has received its message.
template <class Comm, class Waits>
void passes(const char* what, const Waits& waits) {
  INFO(what);
  slow_message message;
  run_ranks<Comm>(2, settings(), [&](Comm& comm) {
    comm.barrier();
    if (comm.rank() == 0) {
      message.await();
      waits(comm);
    } else {
      const while_waiting driving{[&] { return message.drive(); }};
      waits(comm);
    }
    comm.barrier();
  });
  CHECK(message.times_driven() >= 20);
}

}  // namespace

TEMPLATE_TEST_CASE("every wait drives what the program asks it to", "[driving]", standard<rc>,
                   standard<ud_rdma>) {
  passes<TestType>("a barrier", [](TestType& comm) { comm.barrier(); });
  passes<TestType>("a sum", [](TestType& comm) {
    expect(comm.allreduce(comm.rank() + 1, chorale::sum) == 3, "a wrong sum");
  });
  passes<TestType>("long messages", [](TestType& comm) {
    std::vector<long> mine(200'000, comm.rank() + 1);
    comm.allreduce(chorale::in_place, mine, chorale::sum);
    expect(mine.front() == 3 && mine.back() == 3, "a wrong sum");
  });
  passes<TestType>("credit", [](TestType& comm) {
    // The root of many broadcasts runs out of blocks.
    std::vector<int> data(100);
    for (int i = 0; i < 500; ++i) {
      if (comm.rank() == 1) std::iota(data.begin(), data.end(), i);
      comm.broadcast(data, chorale::root{1});
      expect(data[99] == i + 99, "wrong data");
    }
  });
  passes<TestType>("a request", [](TestType& comm) { comm.ibarrier().wait(); });
  passes<TestType>("a request that is tested", [](TestType& comm) {
    auto pending = comm.ibarrier();
    while (!pending.test()) chorale::clock::give_way();
  });
  passes<TestType>("wait_any", [](TestType& comm) {
    auto pending = comm.ibarrier();
    chorale::wait_any(pending);
  });
  passes<TestType>("the end of a request", [](TestType& comm) { const auto dropped = comm.ibarrier(); });
  passes<TestType>("progress", [](TestType& comm) {
    auto pending = comm.ibarrier();
    while (!chorale::test_all(pending)) chorale::progress();
  });
  passes<TestType>("a split", [](TestType& comm) { comm.split(0)->barrier(); });
  passes<TestType>("a window", [](TestType& comm) {
    chorale::window<int, TestType> w{comm, 1};
    w.put(1 - comm.rank(), 0, comm.rank() + 1);
    w.fence();
    expect(w.local()[0] == 2 - comm.rank(), "another value was put");
  });
}

TEST_CASE("a communicator is made so, too", "[driving]") {
  slow_message message;
  run_anywhere(2, [&](support::any_group& group) {
    std::optional<while_waiting> driving;
    if (group.rank() == 0)
      message.await();
    else
      driving.emplace([&] { return message.drive(); });
    standard<rc> comm{group, settings()};
    comm.barrier();
  });
}

TEST_CASE("without it such ranks wait for each other", "[driving]") {
  slow_message message;
  auto c = settings();
  c.deadline = std::chrono::milliseconds{500};
  const auto errors = errors_of<standard<rc>>(2, c, [&](auto& comm) {
    if (comm.rank() == 0) return message.await();
    const auto e = support::error_of([&] { comm.barrier(); });
    while (message.drive()) {
    }
    if (e) throw chorale::error{*e};
  });
  CHECK_FALSE(errors[0]);
  REQUIRE(errors[1]);
  CHECK(errors[1]->code() == chorale::errc::deadline);
}

TEST_CASE("what is driven may be another communicator, not the one that waits", "[driving]") {
  run_ranks<standard<rc>>(2, settings(), [](auto& comm) {
    auto other = comm.duplicate();
    if (comm.rank() == 0) {
      // Rank 1 makes this call only from within its barrier.
      expect(other.allreduce(1, chorale::sum) == 8, "a wrong sum");
      comm.barrier();
      return;
    }
    const int seven = 7;
    int sum = 0;
    std::optional<chorale::request> pending;
    std::optional<chorale::error> refusal;
    {
      const while_waiting driving{[&] {
        if (!refusal) refusal = support::error_of([&] { comm.barrier(); });
        if (!pending) pending = other.iallreduce(seven, sum, chorale::sum);
        return !pending->test();
      }};
      comm.barrier();
    }
    pending->wait();
    expect(sum == 8, "a wrong sum");
    expect(refusal && refusal->code() == chorale::errc::misuse &&
               std::string{refusal->what()}.find("while_waiting") != std::string::npos,
           refusal ? refusal->what() : "not refused");
  });
}

TEST_CASE("an exception of the function ends the call that waits", "[driving]") {
  std::array<std::string, 2> thrown;
  std::atomic<int> calls{0};
  run_anywhere(2, [&](support::any_group& group) {
    standard<rc> comm{group, settings()};
    auto& mine = thrown[static_cast<std::size_t>(group.rank())];
    if (group.rank() == 0) {
      support::await("the function is called", [&] { return calls > 0; });
      mine = support::thrown_by([&] { comm.barrier(); });
      return;
    }
    const while_waiting driving{[&]() -> bool {
      ++calls;
      throw std::runtime_error("of the other library");
    }};
    mine = support::thrown_by([&] { comm.barrier(); });
    refused(chorale::errc::poisoned, {"of the other library"}, [&] { comm.barrier(); });
  });
  CHECK(calls == 1);
  CHECK(thrown[1] == "of the other library");
  CHECK(thrown[0].find("rank 1") != std::string::npos);
}

TEST_CASE("an exception where no wait may fail is kept for the next", "[driving]") {
  std::atomic<bool> has_failed{false};
  std::string thrown;
  run_anywhere(2, [&](support::any_group& group) {
    standard<rc> comm{group, settings()};
    if (group.rank() == 0) {
      support::await("the function is called", [&] { return has_failed.load(); });
      support::thrown_by([&] { comm.barrier(); });
      return;
    }
    const while_waiting driving{[&]() -> bool { throw std::runtime_error("of the other library"); }};
    chorale::progress();
    auto pending = comm.ibarrier();
    chorale::progress();
    has_failed = true;
    thrown = support::thrown_by([&] {
      pending.wait();
      comm.barrier();
    });
  });
  CHECK(thrown == "of the other library");
}
