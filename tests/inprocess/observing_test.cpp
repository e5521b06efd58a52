// SPDX-License-Identifier: Apache-2.0
// Observers: every call begins and ends for them once, whatever its outcome.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/allreduce/ring.hpp>
#include <chorale/algorithm/automatic.hpp>
#include <chorale/observing.hpp>
#include <chorale/plan.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>
#include <chorale/window.hpp>

#include "journal_of_calls.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::clock;
using chorale::operation;

/// Algorithms that are in no table, so that all are tried.
namespace mine {
struct one_way : chorale::allreduce::ring {};
struct other_way : chorale::allreduce::recursive_doubling {};
}  // namespace mine

namespace {

std::string in_words(const ended_call& call) {
  return std::to_string(call.number) + " " + call.what.describe() +
         (call.is_nonblocking ? " nonblocking" : "") + (call.has_failed ? " failed" : "");
}

/// Throws unless `told` are the wanted calls, in that order, each with an algorithm.
void compare(const std::vector<ended_call>& told, const std::vector<std::string>& wanted) {
  std::string text;
  bool same = told.size() == wanted.size();
  for (std::size_t i = 0; i < told.size(); ++i) {
    same = same && i < wanted.size() && in_words(told[i]) == wanted[i];
    text += in_words(told[i]) + "\n";
  }
  if (!same) throw std::runtime_error("other calls were told:\n" + text);
  for (const ended_call& call : told) {
    if (call.algorithm.empty() && !call.has_failed && call.what.what != operation::split)
      throw std::runtime_error("no algorithm in " + in_words(call));
  }
}

/// The text of the exception that `call` throws; throws if it throws none.
template <class Call>
std::string failure_of(Call&& call) {
  try {
    call();
  } catch (const std::exception& e) {
    return e.what();
  }
  throw std::runtime_error("a call that was to fail has not");
}

}  // namespace

TEMPLATE_TEST_CASE("observers are told of every call, once, in order", "[observing]", chorale::transport::rc,
                   chorale::transport::ud, chorale::transport::ud_rdma) {
  for (const int size : {1, 2, 3, 5}) {
    run_ranks<chorale::communicator<TestType>>(size, settings(), [&](auto& comm) {
      const int last = comm.size() - 1;
      const auto journal = std::make_shared<journal_of_calls>();
      comm.barrier();
      chorale::observe(comm, journal);
      std::vector<double> data(3, comm.rank());
      std::vector<double> all(3 * static_cast<std::size_t>(comm.size()));
      comm.barrier();
      comm.broadcast(data, chorale::root{last});
      comm.allreduce(chorale::in_place, data, chorale::sum);
      auto first = comm.iallreduce(chorale::in_place, data, chorale::sum);
      auto second = comm.iallgather(data, all);
      comm.barrier();
      second.wait();
      first.wait();
      auto plan = comm.plan_broadcast(data, chorale::root{0});
      plan.start();
      plan.wait();
      plan.run();
      std::vector<double> none;
      comm.broadcast(none, chorale::root{0});
      chorale::stop_observing(comm, journal);
      comm.barrier();
      journal->check();
      const std::string root = std::to_string(last);
      compare(journal->calls,
              {"2 barrier", "3 broadcast of 24 bytes with root " + root, "4 allreduce of 24 bytes",
               "5 allreduce of 24 bytes nonblocking", "6 allgather of 24 bytes nonblocking", "7 barrier",
               "8 broadcast of 24 bytes with root 0 nonblocking", "9 broadcast of 24 bytes with root 0",
               "10 broadcast of 0 bytes with root 0"});
      if (journal->made != 1 || journal->ended != 1) throw std::runtime_error("made and ended once");
    });
  }
}

TEST_CASE("a process's observers are notified of every communicator that is made", "[observing]") {
  struct counter final : chorale::observer {
    void on_made(const chorale::observed_communicator& who) noexcept override {
      ++made;
      if (who.transport != "rc" || who.device != support::test_device() || who.host.empty()) ++wrong;
    }
    void on_ended(const chorale::observed_communicator&) noexcept override { ++ended; }
    void on_begin(const chorale::observed_call&) noexcept override { ++begun; }
    void on_end(const chorale::observed_call& call) noexcept override {
      ++over;
      if (call.what.what == operation::barrier) ++barriers;
    }
    std::atomic<int> made{0}, ended{0}, begun{0}, over{0}, barriers{0}, wrong{0};
  };
  const auto count = std::make_shared<counter>();
  chorale::observe(count);
  run_ranks<chorale::communicator<>>(3, settings(), [&](auto& comm) {
    comm.barrier();
    auto part = comm.split(comm.rank() % 2);
    part->barrier();
    part->barrier();
  });
  chorale::stop_observing(count);
  run_ranks<chorale::communicator<>>(2, settings(), [&](auto& comm) { comm.barrier(); });
  CHECK(count->made == 6);
  CHECK(count->ended == 6);
  CHECK(count->wrong == 0);
  CHECK(count->barriers == 9);
  CHECK(count->begun == 12);
  CHECK(count->over == 12);
}

TEST_CASE("observers know which algorithm has run", "[observing]") {
  using chorale::allreduce::recursive_doubling;
  using chorale::allreduce::ring;
  run_ranks<chorale::communicator<ring>>(3, settings(), [](auto& comm) {
    const auto journal = std::make_shared<journal_of_calls>();
    chorale::observe(comm, journal);
    std::vector<int> data(100);
    comm.allreduce(chorale::in_place, data, chorale::sum);
    if (journal->calls.at(0).algorithm != "ring") throw std::runtime_error(journal->calls[0].algorithm);
  });
  // In a trial all algorithms have their turns, including calls that have begun but not run yet.
  chorale::config c = settings();
  c.trials = chorale::trial_policy::all;
  using mine::one_way;
  using mine::other_way;
  run_ranks<chorale::communicator<chorale::automatic<one_way, other_way>>>(3, c, [](auto& comm) {
    const auto journal = std::make_shared<journal_of_calls>();
    chorale::observe(comm, journal);
    std::vector<int> data(100);
    while (comm.explain(operation::allreduce, 400).find("in a trial of ") == std::string::npos)
      comm.allreduce(chorale::in_place, data, chorale::sum);
    const std::size_t tried = journal->calls.size();
    for (int i = 0; i < 20; ++i) comm.allreduce(chorale::in_place, data, chorale::sum);
    auto one = comm.iallreduce(chorale::in_place, data, chorale::sum);
    auto two = comm.iallreduce(chorale::in_place, data, chorale::sum);
    two.wait();
    one.wait();
    journal->check();
    // The first round has 17 calls for each.
    std::size_t ones = 0;
    std::size_t others = 0;
    for (std::size_t i = 0; i < 34; ++i) {
      ones += journal->calls[i].algorithm == "mine::one_way" ? 1 : 0;
      others += journal->calls[i].algorithm == "mine::other_way" ? 1 : 0;
    }
    if (ones != 17 || others != 17)
      throw std::runtime_error(std::to_string(ones) + " and " + std::to_string(others) + " in a round");
    const std::string& winner = journal->calls.back().algorithm;
    for (std::size_t i = tried; i < journal->calls.size(); ++i)
      if (journal->calls[i].algorithm != winner) throw std::runtime_error("another one after the trial");
    if (comm.explain(operation::allreduce, 400).find(": " + winner + ": ") == std::string::npos)
      throw std::runtime_error(winner + " is not " + comm.explain(operation::allreduce, 400));
    if (std::count(journal->events.begin(), journal->events.end(), chorale::observed_event::kind::chosen) !=
        1)
      throw std::runtime_error("the choice was not told once");
  });
}

TEST_CASE("waits are reported, and are no longer than the call", "[observing]") {
  if (left_out_in_virtual_time("a rank is late by the machine's clock")) return;
  std::atomic<bool> late{false};
  run_ranks<chorale::communicator<>>(2, settings(), [&](auto& comm) {
    comm.barrier();
    const auto journal = std::make_shared<journal_of_calls>();
    chorale::observe(comm, journal);
    const auto begin = chorale::clock::now();
    if (comm.rank() == 0) {
      comm.barrier();
      // Rank 1 has slept for that time meanwhile, or this rank entered the call later.
      const ended_call& call = journal->calls.at(0);
      if (!late || call.waits == 0 || call.waited == chorale::clock::duration{} ||
          call.waited > chorale::clock::now() - begin)
        throw std::runtime_error("the wait was not told");
    } else {
      chorale::clock::sleep_for(std::chrono::milliseconds{300});
      late = true;
      comm.barrier();
    }
    journal->check();
  });
}

TEMPLATE_TEST_CASE("observers are told what is done with windows", "[observing]", chorale::transport::rc,
                   chorale::transport::ud_rdma) {
  struct journal final : chorale::observer {
    std::vector<std::string> told;
    std::string wrong;
    clock::time_point last{};
    void on_event(const chorale::observed_event& e) noexcept override {
      using kind = chorale::observed_event::kind;
      constexpr std::array names{"connected", "disconnected", "chosen",   "put",    "got",
                                 "updated",   "flushed",      "notified", "awaited"};
      if (e.what == kind::connected || e.what == kind::disconnected || e.what == kind::chosen) return;
      told.push_back(fmt::format("{} {} {}", names.at(static_cast<std::size_t>(e.what)), e.peer, e.bytes));
      if (e.begin > e.time || e.begin < last) wrong = told.back();
      last = e.time;
    }
  };
  for (const int size : {1, 2, 3, 5}) {
    run_ranks<chorale::communicator<TestType>>(size, settings(), [&](auto& comm) {
      std::vector<std::int64_t> cells(16);
      chorale::window w{comm, std::span{cells}};
      std::vector<float> others(8);
      chorale::window locked{comm, std::span{others}};
      const int right = (comm.rank() + 1) % comm.size();
      const int left = (comm.rank() + comm.size() - 1) % comm.size();
      const std::vector<std::int64_t> edge(3, 1);
      const std::vector<float> none;
      w.put(right, 0, edge);
      const auto seen = std::make_shared<journal>();
      chorale::observe(comm, seen);
      w.put(right, 0, edge);
      w.put(right, 3, std::int64_t{5});
      w.flush(right);
      w.put_notify(right, 4, std::int64_t{6}, 2);
      w.wait_notified(left, 2);
      std::vector<std::int64_t> got(2);
      w.get(right, 1, got);
      w.accumulate(right, 8, std::int64_t{2}, chorale::sum);
      static_cast<void>(w.compare_and_swap(right, 9, 0, 3));
      locked.accumulate(right, 1, std::vector<float>(4, 1.0F), chorale::sum);
      locked.put(right, 0, none);
      w.fence();
      chorale::stop_observing(comm, seen);
      w.put(right, 0, edge);
      const std::string to = std::to_string(right);
      const std::vector<std::string> wanted{
          "put " + to + " 24",     "put " + to + " 8",      "flushed " + to + " 0",
          "put " + to + " 8",      "notified " + to + " 0", "awaited " + std::to_string(left) + " 0",
          "got " + to + " 16",     "updated " + to + " 8",  "updated " + to + " 8",
          "updated " + to + " 16", "flushed -1 0"};
      if (seen->told != wanted) {
        std::string all;
        for (const auto& one : seen->told) all += one + "; ";
        throw std::runtime_error("other operations were told: " + all);
      }
      if (!seen->wrong.empty()) throw std::runtime_error("out of order: " + seen->wrong);
    });
  }
}

TEST_CASE("waits of a window are not those of a nonblocking call in progress", "[observing]") {
  for (const bool ends_meanwhile : {false, true}) {
    run_ranks<chorale::communicator<>>(2, settings(), [&](auto& comm) {
      std::vector<std::int64_t> cells(2);
      chorale::window w{comm, std::span{cells}};
      comm.barrier();
      const auto journal = std::make_shared<journal_of_calls>();
      chorale::observe(comm, journal);
      int data = 1;
      if (comm.rank() == 0) {
        auto call = comm.iallreduce(chorale::in_place, data, chorale::sum);
        w.wait_notified(1, 0);
        // Polls without waiting: reported waits are the window's.
        while (!call.test()) chorale::clock::give_way();
      } else {
        chorale::clock::sleep_for(std::chrono::milliseconds{20});
        if (ends_meanwhile) static_cast<void>(comm.allreduce(chorale::in_place, data, chorale::sum));
        chorale::clock::sleep_for(std::chrono::milliseconds{20});
        w.put_notify(0, 0, std::int64_t{6}, 0);
        if (!ends_meanwhile) static_cast<void>(comm.allreduce(chorale::in_place, data, chorale::sum));
      }
      chorale::stop_observing(comm, journal);
      journal->check();
      compare(journal->calls,
              {comm.rank() == 0 ? "3 allreduce of 4 bytes nonblocking" : "3 allreduce of 4 bytes"});
      if (comm.rank() == 0 && journal->calls[0].waits != 0)
        throw std::runtime_error("a wait of the window was told as one of the call");
    });
  }
}

TEST_CASE("a call that fails has its end, as have the later ones", "[observing]") {
  for (const int size : {2, 3, 5}) {
    run_ranks<chorale::communicator<>>(size, settings(), [&](auto& comm) {
      const auto journal = std::make_shared<journal_of_calls>();
      comm.barrier();
      chorale::observe(comm, journal);
      std::vector<int> data(4);
      // Rejected before it begins: not reported.
      failure_of([&] { comm.broadcast(data, chorale::root{99}); });
      if (journal->begun != 0) throw std::runtime_error("a refused call was told");
      const auto throws = [](int a, int b) -> int {
        if (a + b >= 0) throw std::runtime_error("the operator's");
        return a;
      };
      std::vector<chorale::request> pending;
      failure_of([&] {
        for (int i = 0; i < 3; ++i) pending.push_back(comm.iallreduce(chorale::in_place, data, throws));
        chorale::wait_all(pending);
      });
      failure_of([&] { comm.barrier(); });
      journal->check();
      // Calls made after a peer's failure was known here are rejected.
      if (journal->calls.size() != journal->begun || journal->begun == 0 || journal->begun > 3)
        throw std::runtime_error(std::to_string(journal->begun) + " begun, " +
                                 std::to_string(journal->calls.size()) + " ended");
      for (const ended_call& call : journal->calls)
        if (!call.has_failed) throw std::runtime_error("a failed call has ended well: " + in_words(call));
    });
    run_ranks<chorale::communicator<>>(size, settings(), [&](auto& comm) {
      const auto journal = std::make_shared<journal_of_calls>();
      comm.barrier();
      chorale::observe(comm, journal);
      std::vector<int> data(4);
      failure_of([&] {
        comm.allreduce(chorale::in_place, data,
                       [](int, int) -> int { throw std::runtime_error("the operator's"); });
      });
      journal->check();
      compare(journal->calls, {"2 allreduce of 16 bytes failed"});
    });
  }
}

TEST_CASE("a request that is destroyed ends its call for observers", "[observing]") {
  run_ranks<chorale::communicator<>>(2, settings(), [&](auto& comm) {
    const auto journal = std::make_shared<journal_of_calls>();
    comm.barrier();
    chorale::observe(comm, journal);
    std::vector<int> data(4);
    { const auto one = comm.iallreduce(chorale::in_place, data, chorale::sum); }
    comm.barrier();
    journal->check();
    compare(journal->calls, {"2 allreduce of 16 bytes nonblocking", "3 barrier"});
  });
}

TEST_CASE("observers come and go while calls are pending", "[observing]") {
  run_ranks<chorale::communicator<>>(3, settings(), [&](auto& comm) {
    std::vector<int> data(4);
    const auto journal = std::make_shared<journal_of_calls>();
    const auto other = std::make_shared<journal_of_calls>();
    auto one = comm.iallreduce(chorale::in_place, data, chorale::sum);
    chorale::observe(comm, journal);
    auto two = comm.iallreduce(chorale::in_place, data, chorale::sum);
    chorale::observe(comm, other);
    comm.barrier();
    auto three = comm.iallreduce(chorale::in_place, data, chorale::sum);
    chorale::stop_observing(comm, journal);
    chorale::stop_observing(comm, other);
    auto four = comm.iallreduce(chorale::in_place, data, chorale::sum);
    four.wait();
    chorale::observe(comm, other);
    comm.barrier();
    chorale::stop_observing(comm, other);
    chorale::stop_observing(comm, other);
    one.wait();
    two.wait();
    three.wait();
    // The fourth call may have ended before the observers were removed.
    if (journal->calls.size() == 3 &&
        in_words(journal->calls.back()) == "4 allreduce of 16 bytes nonblocking") {
      journal->calls.pop_back();
      other->calls.erase(other->calls.begin() + 1);
    }
    compare(journal->calls, {"2 allreduce of 16 bytes nonblocking", "3 barrier"});
    journal->check();
    if (other->calls.size() != 2 || other->calls.back().number != 6 || other->made != 2 || other->ended != 2)
      throw std::runtime_error(std::to_string(other->calls.size()) + " calls told to the second one");
  });
}
