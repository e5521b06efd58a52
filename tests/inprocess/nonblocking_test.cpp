// SPDX-License-Identifier: Apache-2.0
// Nonblocking calls: several outstanding, finished in any order, mixed with blocking ones.
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/plan.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/window.hpp>

#include "../support/collectives/checks.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::request;
using chorale::transport::rc;
using chorale::transport::ud;

namespace {

using matrices = guarded_buffer<triangle>;

template <class Comm>
std::vector<matrices> operands(Comm& comm, int calls, std::size_t count) {
  std::vector<matrices> all;
  for (int call = 0; call < calls; ++call) {
    all.emplace_back(count + static_cast<std::size_t>(call) * 7);
    all.back().fill_with([&](std::size_t i) {
      return operand<triangle>(seed() + static_cast<std::uint64_t>(call), comm.rank(), i);
    });
  }
  return all;
}

void check_reductions(const std::vector<matrices>& results, int ranks) {
  for (std::size_t call = 0; call < results.size(); ++call) {
    results[call].check("call " + std::to_string(call), [&](std::size_t i) {
      return expected_reduction<triangle>(seed() + call, ranks, i, multiply{});
    });
  }
}

/// The machine's clock, which counts how often its thread yields.
class counting_clock final : public chorale::time_source {
 public:
  chorale::clock::time_point now() noexcept override { return std::chrono::steady_clock::now(); }
  void give_way() noexcept override {
    ++count_;
    std::this_thread::yield();
  }
  void sleep_until(chorale::clock::time_point end) noexcept override { std::this_thread::sleep_until(end); }
  [[nodiscard]] int count() const noexcept { return count_; }

 private:
  int count_ = 0;
};

}  // namespace

TEMPLATE_TEST_CASE("requests finish in whatever order they are waited for", "[nonblocking]", standard<rc>,
                   degree_1<rc>, standard<ud>) {
  // More than the eight calls that a rank's status page keeps.
  constexpr int calls = 21;
  for (const int size : {1, 2, 5, 8}) {
    if (too_large(size)) continue;
    for (const std::size_t count : {1U, 1000U}) {
      run_ranks<TestType>(size, settings(), [&](auto& comm) {
        auto data = operands(comm, calls, count);
        std::vector<request> pending;
        for (auto& d : data) pending.push_back(comm.iallreduce(chorale::in_place, d.span(), multiply{}));
        // In a different order on each rank.
        for (int i = 0; i < calls; ++i) {
          auto& r = pending[static_cast<std::size_t>((i * 8 + comm.rank()) % calls)];
          if (i % 3 == 0)
            await(std::move(r));
          else
            r.wait();
        }
        check_reductions(data, comm.size());
      });
    }
  }
}

TEMPLATE_TEST_CASE("a blocking call waits for the nonblocking ones before it", "[nonblocking]", standard<rc>,
                   standard<ud>) {
  run_ranks<TestType>(5, settings(), [&](auto& comm) {
    auto data = operands(comm, 4, 2000);
    std::vector<request> pending;
    for (auto& d : data) pending.push_back(comm.iallreduce(chorale::in_place, d.span(), multiply{}));
    check_barrier(comm);
    check_reductions(data, comm.size());
    check_broadcast<std::uint32_t>(comm, 5000, 3, seed());
  });
}

TEMPLATE_TEST_CASE("different operations may be outstanding together", "[nonblocking]", standard<rc>,
                   degree_1<rc>, standard<ud>) {
  run_ranks<TestType>(7, settings(), [&](auto& comm) {
    guarded_buffer<std::uint64_t> text{3000, 3};
    text.fill_with([&](std::size_t i) { return operand<std::uint64_t>(seed(), comm.rank(), i); });
    matrices in{500}, out{500};
    in.fill_with([&](std::size_t i) { return operand<triangle>(seed(), comm.rank(), i); });
    auto sums = operands(comm, 1, 700);
    std::vector<request> pending;
    pending.push_back(comm.ibroadcast(text.span(), chorale::root{4}));
    pending.push_back(comm.ibarrier());
    pending.push_back(
        comm.ireduce(std::span<const triangle>{in.span()}, out.span(), multiply{}, chorale::root{6}));
    pending.push_back(comm.iallreduce(chorale::in_place, sums[0].span(), multiply{}));
    if (comm.rank() % 2 == 0) pending.back().wait();
    for (auto& r : pending) r.wait();
    text.check("broadcast", [&](std::size_t i) { return operand<std::uint64_t>(seed(), 4, i); });
    if (comm.rank() == 6)
      out.check("reduce",
                [&](std::size_t i) { return expected_reduction<triangle>(seed(), 7, i, multiply{}); });
    check_reductions(sums, comm.size());
  });
}

TEMPLATE_TEST_CASE("calls with blocks may be outstanding together", "[nonblocking]", standard<rc>,
                   degree_1<rc>, standard<ud>) {
  constexpr std::size_t count = 3000;
  auto c = settings();
  c.zero_copy_bytes = 10'000;
  run_ranks<TestType>(5, c, [&](auto& comm) {
    const auto ranks = static_cast<std::size_t>(comm.size());
    using number = std::uint64_t;
    const auto filled = [&](std::size_t elements) {
      guarded_buffer<number> b{elements};
      b.fill_with([&](std::size_t i) { return operand<number>(seed(), comm.rank(), i); });
      return b;
    };
    auto in = filled(count), for_all = filled(ranks * count), summed = filled(count);
    guarded_buffer<number> gathered{ranks * count}, turned{ranks * count}, scattered{count},
        collected{ranks * count};
    std::vector<request> pending;
    const std::span<const number> source{in.span()}, sources{for_all.span()};
    pending.push_back(comm.iallgather(source, gathered.span()));
    pending.push_back(comm.ialltoall(sources, turned.span()));
    pending.push_back(comm.iscatter(sources, scattered.span(), chorale::root{3}));
    pending.push_back(comm.igather(source, collected.span(), chorale::root{1}));
    pending.push_back(comm.iscan(chorale::in_place, summed.span(), chorale::sum));
    if (comm.rank() % 2 == 1) pending[1].wait();
    for (auto& r : pending) r.wait();
    const auto given = [&](std::size_t rank, std::size_t i) {
      return operand<number>(seed(), static_cast<int>(rank), i);
    };
    const auto me = static_cast<std::size_t>(comm.rank());
    gathered.check("allgather", [&](std::size_t i) { return given(i / count, i % count); });
    turned.check("alltoall", [&](std::size_t i) { return given(i / count, me * count + i % count); });
    scattered.check("scatter", [&](std::size_t i) { return given(3, me * count + i); });
    if (me == 1) collected.check("gather", [&](std::size_t i) { return given(i / count, i % count); });
    summed.check("scan", [&](std::size_t i) {
      return expected_reduction<number>(seed(), comm.rank() + 1, i, chorale::sum);
    });
  });
}

TEMPLATE_TEST_CASE("a request that is over stays over", "[nonblocking]", standard<rc>, standard<ud>) {
  run_ranks<TestType>(3, settings(), [&](auto& comm) {
    request none;
    if (!none.test()) throw wrong("a request of no call is not over");
    none.wait();
    auto r = comm.ibarrier();
    r.wait();
    if (!r.test()) throw wrong("waited for and not over");
    r.wait();
  });
}

TEST_CASE("unsuccessful polling yields if ranks share cores, and only then", "[nonblocking]") {
  if (left_out_in_virtual_time("it counts how often a thread gives way")) return;
  constexpr int looks = 20;
  auto c = settings();
  c.wait = GENERATE(chorale::wait_policy::yield, chorale::wait_policy::spin);
  std::atomic<bool> has_polled{false};
  std::vector<std::pair<std::string, int>> counts;
  run_ranks<standard<rc>>(2, c, [&](auto& comm) {
    chorale::window<long, std::remove_reference_t<decltype(comm)>> cells{comm, 1};
    double planned = 1;
    double other = 1;
    chorale::plan step = comm.plan_allreduce(chorale::in_place, planned, chorale::max);
    if (comm.rank() == 1) {
      support::await("rank 0 has polled", [&] { return has_polled.load(); });
      step.run();
      return comm.iallreduce(chorale::in_place, other, chorale::max).wait();
    }
    const auto poll = [&](const char* what, auto&& is_over) {
      counting_clock time;
      const chorale::replaced_clock during{time};
      for (int i = 0; i < looks; ++i)
        if (is_over()) throw wrong("over without the other rank: " + std::string{what});
      counts.emplace_back(what, time.count());
    };
    poll("window::notified", [&] { return cells.notified(1, 0) != 0; });
    poll("transport().progress", [&] { return comm.transport().progress(), false; });
    step.start();
    poll("plan::test", [&] { return step.test(); });
    std::array<request, 1> pending{comm.iallreduce(chorale::in_place, other, chorale::max)};
    poll("request::test", [&] { return pending[0].test(); });
    poll("test_all", [&] { return chorale::test_all(pending); });
    poll("progress", [] { return chorale::progress(), false; });
    has_polled = true;
    step.wait();
    pending[0].wait();
  });
  CHECK(counts.size() == 6);
  for (const auto& [what, count] : counts) {
    INFO(what << " gave way " << count << " times");
    CHECK((c.wait == chorale::wait_policy::yield ? count >= looks : count == 0));
  }
}
