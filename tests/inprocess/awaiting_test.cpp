// SPDX-License-Identifier: Apache-2.0
// Requests in event loops and coroutines of the program: no wake-up is lost, every error arrives.
#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <poll.h>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <chorale/awaiting.hpp>
#include <chorale/plan.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::transport::hybrid;
using chorale::transport::rc;
using chorale::transport::ud;

namespace {

/// A coroutine type of a program: it starts immediately and keeps its exception.
class job {
 public:
  struct promise_type {
    std::exception_ptr failure;
    job get_return_object() { return job{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    static void return_void() {}
    void unhandled_exception() { failure = std::current_exception(); }
  };
  explicit job(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
  job(job&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  job& operator=(job&&) = delete;
  ~job() {
    if (frame_) frame_.destroy();
  }
  [[nodiscard]] bool done() const { return frame_.done(); }
  void result() const {
    expect(frame_.done(), "a coroutine has not ended");
    if (frame_.promise().failure) std::rethrow_exception(frame_.promise().failure);
  }

 private:
  std::coroutine_handle<promise_type> frame_;
};

/// Sleeps until the descriptor of this thread is readable. In virtual time there is none.
void await_descriptor() {
  if (support::in_virtual_time()) return;
  pollfd due{chorale::progress_descriptor(), POLLIN, 0};
  expect(poll(&due, 1, instrumented ? 120'000 : 60'000) == 1, "a wake-up was lost");
}

/// An event loop without other events.
void loop() {
  while (chorale::progress()) await_descriptor();
}

/// Sums of one communicator, one after the other, and at random times.
template <class Comm>
job add(Comm& comm, int rounds, std::size_t count) {
  std::minstd_rand random(static_cast<unsigned>(seed()) + static_cast<unsigned>(comm.rank()));
  std::vector<long> data(count);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) data[i] = comm.rank() + round * static_cast<long>(i);
    if (random() % 4 == 0) chorale::clock::sleep_for(std::chrono::microseconds{random() % 3000});
    co_await comm.iallreduce(chorale::in_place, data, chorale::sum);
    const long size = comm.size();
    for (std::size_t i = 0; i < count; ++i)
      expect(data[i] == size * (size - 1) / 2 + size * round * static_cast<long>(i), "a wrong sum");
  }
}

template <class Comm>
job pass_on(Comm& comm, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const int root = round % comm.size();
    int value = comm.rank() == root ? 100 * round : -1;
    chorale::request sent = comm.ibroadcast(value, chorale::root{root});
    co_await sent;
    expect(value == 100 * round && !sent.valid(), "a wrong value");
  }
}

}  // namespace

TEMPLATE_TEST_CASE("coroutines on several communicators of one thread, driven by a descriptor", "[awaiting]",
                   standard<rc>, standard<ud>, standard<hybrid<1>>) {
  for (const int size : {1, 2, 5}) {
    run_ranks<TestType>(size, settings(), [](auto& comm) {
      auto other = comm.duplicate();
      auto third = comm.duplicate();
      const std::array jobs{add(comm, 40, 1), add(other, 15, 20'000), pass_on(third, 60)};
      loop();
      for (const job& one : jobs) one.result();
      expect(!chorale::progress(), "something is left");
    });
  }
}

TEST_CASE("an event loop that looks at its requests misses none", "[awaiting]") {
  run_ranks<standard<rc>>(4, settings(), [](auto& comm) {
    auto other = comm.duplicate();
    std::minstd_rand random(static_cast<unsigned>(seed()) * 31 + static_cast<unsigned>(comm.rank()));
    std::array<long, 100> sums{};
    const long mine = comm.rank() + 1;
    for (long& sum : sums) {
      auto pending = comm.iallreduce(mine, sum, chorale::sum);
      // Some are complete after a blocking call, which wakes the loop, too.
      if (random() % 3 == 0 || &sum == &sums.back())
        chorale::clock::sleep_for(std::chrono::microseconds{500});
      if ((&sum - sums.data()) % 4 == 0) other.barrier();
      do {
        await_descriptor();
        chorale::progress();
      } while (!pending.test());
      expect(sum == 10, "a wrong sum");
    }
  });
}

TEST_CASE("plans and calls that make communicators are awaited, too", "[awaiting]") {
  run_ranks<standard<rc>>(3, settings(), [](auto& comm) {
    const auto work = [](auto& on) -> job {
      std::vector<int> data(50);
      auto sum = on.plan_allreduce(chorale::in_place, data, chorale::sum);
      co_await sum;  // the plan is not running
      for (int round = 1; round < 20; ++round) {
        data.assign(data.size(), round);
        sum.start();
        co_await sum;
        expect(data[49] == 3 * round, "a wrong sum");
      }
      auto part = co_await on.isplit(on.rank() == 2 ? 1 : 0);
      expect(part && part->size() == (on.rank() == 2 ? 1 : 2), "another part");
      co_await part->ibarrier();
    };
    const job all = work(comm);
    loop();
    all.result();
  });
}

TEST_CASE("other waits advance the call, and leave its coroutine alone", "[awaiting]") {
  run_ranks<standard<rc>>(2, settings(), [](auto& comm) {
    auto other = comm.duplicate();
    const job one = add(comm, 1, 10);
    for (int i = 0; i < 20; ++i) other.barrier();
    if (comm.rank() == 0) chorale::clock::sleep_for(std::chrono::milliseconds{20});
    other.barrier();
    expect(comm.size() == 2, "another size");
    loop();
    one.result();
  });
}

TEST_CASE("a failure arrives at co_await", "[awaiting]") {
  const auto errors = errors_of<standard<rc>>(3, settings(), [](auto& comm) {
    std::optional<chorale::error> caught;
    const auto work = [&caught](auto& on) -> job {
      std::vector<int> data(on.rank() == 1 ? 2 : 1);
      try {
        co_await on.iallreduce(chorale::in_place, data, chorale::sum);
      } catch (const chorale::error& e) {
        caught = e;
      }
      co_await on.ibarrier();  // the communicator is poisoned
    };
    const job all = work(comm);
    loop();
    expect(caught.has_value(), "no error was caught");
    const auto second = support::error_of([&] { all.result(); });
    expect(second && second->code() == chorale::errc::poisoned, "the next call was not refused");
    throw chorale::error{*caught};
  });
  bool is_named = false;
  for (const auto& e : errors) {
    REQUIRE(e);
    if (e->code() == chorale::errc::mismatch) is_named = true;
  }
  CHECK(is_named);
}

TEST_CASE("a coroutine that is dropped takes its requests with it", "[awaiting]") {
  const auto errors = errors_of<standard<rc>>(2, settings(), [](auto& comm) {
    comm.barrier();
    auto other = comm.duplicate();
    {
      const job dropped = add(comm, 1, 1000);  // the destructor completes the call
    }
    expect(!chorale::progress(), "something is left");
    comm.barrier();
    if (comm.rank() == 0) {
      try {
        const job dropped = add(comm, 1, 1000);  // rank 1 never makes this call
        throw std::runtime_error("of the program");
      } catch (const std::runtime_error&) {
      }
      expect(!chorale::progress(), "something is left");
    }
    other.barrier();
    comm.barrier();
  });
  for (const auto& e : errors) {
    REQUIRE(e);
    CHECK(e->code() == chorale::errc::poisoned);
  }
}

TEST_CASE("a communicator that ends first wakes the coroutine", "[awaiting]") {
  run_ranks<standard<rc>>(2, settings(), [](auto& comm) {
    std::optional<chorale::error> caught;
    auto other = std::make_optional(comm.duplicate());
    const auto work = [&](auto& on) -> job {
      try {
        co_await on.ibarrier();
      } catch (const chorale::error& e) {
        caught = e;
      }
    };
    std::optional<job> one;
    if (comm.rank() == 0) {
      one.emplace(work(*other));
      try {
        // The unwinding that ends `other` does not wait long for rank 1.
        const auto ends = std::move(other);
        other.reset();
        throw std::runtime_error("of the program");
      } catch (const std::runtime_error&) {
      }
      loop();
      one->result();
      expect(caught && caught->code() == chorale::errc::poisoned, "not told of the end");
    }
    comm.barrier();
  });
}

TEST_CASE("in a child of fork() no call of its parent is outstanding", "[awaiting]") {
  if (left_out_in_virtual_time("a fork of a fiber is none of its scheduler's")) return;
  if (threads_watched) return;  // the child of a process with threads: the thread sanitizer supports none
  std::atomic<bool> has_forked{false};
  std::atomic<int> status{-1};
  run_ranks<standard<rc>>(2, settings(), [&](auto& comm) {
    if (comm.rank() == 1) support::await("the other rank has forked", [&] { return has_forked.load(); });
    auto pending = comm.ibarrier();
    if (comm.rank() == 0) {
      const pid_t child = fork();
      if (child == 0) _exit(chorale::progress() ? 1 : 0);
      int ended = -1;
      waitpid(child, &ended, 0);
      status = ended;
      expect(chorale::progress(), "the parent's own call is gone");
      has_forked = true;
    }
    pending.wait();
  });
  CHECK(status == 0);
}

TEST_CASE("there is no descriptor in virtual time", "[awaiting]") {
  if (!support::in_virtual_time()) return;
  run_ranks<standard<rc>>(2, settings(), [](auto&) {
    refused(chorale::errc::unsupported, {"virtual time"},
            [] { static_cast<void>(chorale::progress_descriptor()); });
  });
}
