// SPDX-License-Identifier: Apache-2.0
// Plans: every call, started repeatedly with different data, concurrently with plain calls and other plans.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <chorale/plan.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>

#include "../support/mapped_file.hpp"
#include "../verbs/soft_environment.hpp"
#include "planned_calls.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::plan;
using chorale::transport::rc;
using chorale::transport::ud;

namespace {

enum class way { run, wait, test, plain };

void make(planned_call& one, way how) {
  switch (how) {
    case way::run:
      return one.plan.run();
    case way::wait:
      one.plan.start();
      return one.plan.wait();
    case way::test:
      one.plan.start();
      while (!one.plan.test()) chorale::clock::give_way();
      return;
    case way::plain:
      return one.plain();
  }
}

chorale::config zero_copy_of_24_kilobytes() {
  auto c = settings();
  c.zero_copy_bytes = 24'000;
  return c;
}

/// Every plan four times with different data; in each round each rank uses a different form, including the
/// plain call. `has_files(rank)`: whether that rank's buffers are files.
template <class Comm>
void check_every_plan(int size, std::size_t count, bool in_place, bool (*has_files)(int) = nullptr) {
  arrivals came(static_cast<std::size_t>(size));
  run_ranks<Comm>(size, zero_copy_of_24_kilobytes(), [&](auto& comm) {
    const bool are_files = has_files != nullptr && has_files(comm.rank());
    const support::files_for_buffers here{are_files};
    planned_calls calls{comm, count, in_place, size / 2, came};
    for (std::uint64_t round = 0; round < 4; ++round) {
      for (auto& one : calls.all()) {
        one.fill(seed() + round);
        make(one, static_cast<way>((round + static_cast<unsigned>(comm.rank())) % 4));
        one.check();
        if (one.plan.is_running()) throw std::runtime_error(one.name + ": over, and said to be running");
      }
    }
    if constexpr (requires { comm.transport().registrations(); }) {
      const auto refusals = comm.transport().registrations().refusals;
      if (!are_files) expect(refusals == 0, "memory was refused that is no file");
      if (are_files && count * sizeof(number) >= 24'000) expect(refusals != 0, "no memory was refused");
    }
  });
}

}  // namespace

// Empty, one message, several messages, and zero copy.
TEMPLATE_TEST_CASE("plans of every call give the results of plain calls, start after start", "[plans]",
                   standard<rc>, degree_1<rc>) {
  for (const int size : {1, 2, 3, 5}) {
    for (const std::size_t count : {0U, 1U, 700U, 3001U})
      for (const bool in_place : {false, true}) check_every_plan<TestType>(size, count, in_place);
  }
  if (!too_large(8)) check_every_plan<TestType>(8, 3001, false);
}

// Below and above the threshold.
TEMPLATE_TEST_CASE("plans and plain calls of memory that the device refuses give the same results", "[plans]",
                   standard<rc>, degree_1<rc>, standard<chorale::transport::hybrid<2>>) {
  if (left_out_in_virtual_time("sim0's profile is that of its machine")) return;
  const soft_test::variables set{
      std::map<std::string, std::string>{{"CHORALE_SOFT_PROFILE", "refuse_registration=files"}}};
  const auto all = [](int) { return true; };
  const auto one = [](int rank) { return rank == 1; };
  for (const bool in_place : {false, true}) {
    check_every_plan<TestType>(2, 3001, in_place, all);
    check_every_plan<TestType>(3, 3001, in_place, one);
    check_every_plan<TestType>(3, 6000, in_place, all);
    check_every_plan<TestType>(5, in_place ? 2999 : 3001, in_place, one);
  }
}

TEMPLATE_TEST_CASE("the same over other transports", "[plans]", standard<chorale::transport::rc_send_receive>,
                   standard<ud>, standard<chorale::transport::ud_rdma>,
                   standard<chorale::transport::hybrid<2>>) {
  check_every_plan<TestType>(2, 0, false);
  check_every_plan<TestType>(2, 3001, true);
  check_every_plan<TestType>(5, 700, false);
}

TEMPLATE_TEST_CASE("plans may be outstanding together, and between plain calls", "[plans]", standard<rc>,
                   degree_1<rc>, standard<ud>) {
  for (const int size : {1, 2, 5}) {
    for (const std::size_t count : {1U, 3001U}) {
      arrivals came(static_cast<std::size_t>(size));
      run_ranks<TestType>(size, zero_copy_of_24_kilobytes(), [&](auto& comm) {
        planned_calls calls{comm, count, false, size - 1, came};
        planned_calls others{comm, 5, true, 0, came};
        auto& all = calls.all();
        for (std::uint64_t round = 0; round < 3; ++round) {
          for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].fill(seed() + round);
            all[i].plan.start();
            if (i % 6 != 5) continue;
            // A plain call waits for all earlier plans, and so does a blocking start.
            auto& other = others.all()[i];
            other.fill(seed() + round);
            make(other, comm.rank() % 2 == 0 ? way::plain : way::run);
            other.check();
          }
          // A different order on each rank.
          for (std::size_t i = 0; i < all.size(); ++i) {
            auto& one = all[(i * 7 + static_cast<std::size_t>(comm.rank())) % all.size()];
            if (i % 2 == 0)
              one.plan.wait();
            else
              while (!one.plan.test()) chorale::clock::give_way();
          }
          for (auto& one : all) one.check();
        }
      });
    }
  }
}

TEMPLATE_TEST_CASE("a plan follows its communicator, and may be moved while it runs", "[plans]", standard<rc>,
                   standard<ud>) {
  run_ranks<TestType>(3, settings(), [&](auto& original) {
    std::optional first{original.duplicate()};
    std::vector<number> data(100);
    std::optional<plan> sum{first->plan_allreduce(chorale::in_place, data, chorale::sum)};
    TestType comm = std::move(*first);
    first.reset();
    std::vector<plan> kept;
    for (number round = 1; round < 4; ++round) {
      std::fill(data.begin(), data.end(), round);
      sum->start();
      kept.push_back(std::move(*sum));
      if (sum->valid() || sum->is_running()) throw std::runtime_error("moved from, and still a plan");
      sum.emplace(std::move(kept.back()));
      if (!sum->is_running()) throw std::runtime_error("moved while it ran, and not running");
      sum->wait();
      for (const number n : data)
        if (n != 3 * round)
          throw std::runtime_error("the sum of round " + std::to_string(round) + " is wrong");
    }
    plan other = comm.plan_barrier();
    other = std::move(*sum);
    other.run();
    if (data.front() != 27) throw std::runtime_error("the plan that was assigned is wrong");
  });
}

TEMPLATE_TEST_CASE("requests, plans and ranges of both are waited for together", "[plans]", standard<rc>,
                   standard<ud>) {
  run_ranks<TestType>(3, settings(), [&](auto& comm) {
    const auto expect = [](bool right, const char* what) {
      if (!right) throw std::runtime_error(what);
    };
    const number mine = static_cast<number>(comm.rank()) + 1;
    number sum = 0, largest = 0, before = 0;
    plan none, idle = comm.plan_barrier();
    std::vector<plan> plans;
    plans.push_back(comm.plan_allreduce(mine, sum, chorale::sum));
    plans.push_back(comm.plan_allreduce(mine, largest, chorale::max));
    const auto all_are_right = [&] {
      return sum == 6 && largest == 3 && before == 10 + mine * (mine - 1) / 2;
    };
    for (int round = 0; round < 3; ++round) {
      sum = largest = before = 0;
      for (auto& one : plans) one.start();
      chorale::request last = comm.iexscan(mine, before, chorale::initial{number{10}}, chorale::sum);
      if (round == 0) {
        chorale::wait_all(none, last, plans, idle);
      } else if (round == 1) {
        while (!chorale::test_all(plans, idle, last))
          expect(plans[0].is_running() || plans[1].is_running() || last.valid(), "test_all forgot a call");
      } else {
        int seen = 0;
        for (std::size_t which; (which = chorale::wait_any(none, plans, idle, last)) != 5;)
          seen += 1 << which;
        expect(seen == (1 << 1 | 1 << 2 | 1 << 4), "wait_any names other calls");
      }
      expect(all_are_right(), "a call was not waited for");
      expect(!plans[0].is_running() && !plans[1].is_running() && !last.valid(), "a call is not reported");
    }
  });
}

TEST_CASE("a plan keeps its buffers registered, whatever else is registered", "[plans]") {
  auto c = settings();
  c.zero_copy_bytes = 8192;
  c.registration_entries = 2;
  // Algorithms that move long messages directly between the users' buffers.
  using straight = chorale::communicator<rc, chorale::allgather::ring, chorale::broadcast::binomial>;
  run_ranks<straight>(2, c, [&](auto& comm) {
    constexpr std::size_t count = 64 * 1024;
    std::vector<number> in(count), out(2 * count);
    const std::span<const number> source{in};
    const chorale::strided contiguous{out, 2, count, count};
    const auto crowd_out = [&] {
      std::vector<std::vector<number>> others(5, std::vector<number>(count, 7));
      for (auto& one : others) comm.broadcast(one);
    };
    const auto misses = [&](auto&& call) {
      const auto before = comm.transport().registrations().misses;
      call();
      return comm.transport().registrations().misses - before;
    };
    const auto check = [&](plan one, auto&& plain) {
      one.run();
      if (misses(crowd_out) == 0) throw std::runtime_error("nothing was crowded out");
      if (misses([&] { one.run(); }) != 0) throw std::runtime_error("the plan's buffers were given up");
      one = plan{};
      crowd_out();
      if (misses(plain) == 0)
        throw std::runtime_error("the buffers of a plan that has ended are still registered");
    };
    check(comm.plan_allgather(source, out), [&] { comm.allgather(source, out); });
    check(comm.plan_allgather(source, contiguous), [&] { comm.allgather(source, contiguous); });
    check(comm.plan_broadcast(contiguous), [&] { comm.broadcast(contiguous); });
  });
}
