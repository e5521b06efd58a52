// Nonblocking calls: several outstanding, finished in any order, mixed with blocking ones.
#include <memory>
#include <optional>
#include <vector>

#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

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

}  // namespace

TEMPLATE_TEST_CASE("requests finish in whatever order they are waited for", "[nonblocking]", standard<rc>,
                   degree_1<rc>, doubling<rc>, standard<ud>, degree_7<ud>) {
  // More than the eight calls a rank's status page remembers.
  constexpr int calls = 21;
  for (const int size : {1, 2, 5, 8}) {
    for (const std::size_t count : {1U, 1000U}) {
      run_ranks<TestType>(size, settings(), [&](auto& comm) {
        auto data = operands(comm, calls, count);
        std::vector<request> pending;
        for (auto& d : data) pending.push_back(comm.iallreduce(d.span(), multiply{}));
        // Another order on each rank.
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
    for (auto& d : data) static_cast<void>(comm.iallreduce(d.span(), multiply{}));  // dropped, not cancelled
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
    pending.push_back(comm.ibroadcast(text.span(), 4));
    pending.push_back(comm.ibarrier());
    pending.push_back(comm.ireduce(std::span<const triangle>{in.span()}, out.span(), multiply{}, 6));
    pending.push_back(comm.iallreduce(sums[0].span(), multiply{}));
    if (comm.rank() % 2 == 0) pending.back().wait();
    for (auto& r : pending) r.wait();
    text.check("broadcast", [&](std::size_t i) { return operand<std::uint64_t>(seed(), 4, i); });
    if (comm.rank() == 6)
      out.check("reduce",
                [&](std::size_t i) { return expected_reduction<triangle>(seed(), 7, i, multiply{}); });
    check_reductions(sums, comm.size());
  });
}

TEST_CASE("a request may outlive its communicator if nobody uses it", "[nonblocking]") {
  std::vector<request> kept;
  run_ranks<standard<rc>>(1, settings(), [&](auto& comm) {
    kept.push_back(comm.ibarrier());
    kept.push_back(comm.ibarrier());
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
