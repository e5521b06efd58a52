// The library itself in virtual time: collectives on every transport, against results computed here.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/communicator.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>

#include "../support/expect.hpp"
#include "../support/instrumented.hpp"
#include "../support/simulated.hpp"
#include "../support/twins.hpp"

namespace {

using namespace chorale::simulation;
using namespace std::chrono_literals;
namespace transport = chorale::transport;
using Catch::EndsWith;

/// The input of rank `r` at index `i` of call `c`.
std::uint64_t value(int r, std::size_t i, int c) {
  return static_cast<std::uint64_t>(r + 1) * 1'000'003 + i * 1'009 + static_cast<std::uint64_t>(c);
}

template <class Comm>
void use(Comm& comm) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const int me = comm.rank();
  for (int call = 0; call < 3; ++call) {
    comm.barrier();
    for (const std::size_t count : {std::size_t{1}, std::size_t{100}, std::size_t{5'000}}) {
      std::vector<std::uint64_t> data(count);
      const int root = call % comm.size();
      for (std::size_t i = 0; i < count; ++i) data[i] = value(me, i, call);
      comm.broadcast(std::span{data}, root);
      for (std::size_t i = 0; i < count; ++i) support::expect(data[i] == value(root, i, call), "broadcast");

      for (std::size_t i = 0; i < count; ++i) data[i] = value(me, i, call);
      comm.allreduce(std::span{data}, std::plus<>{});
      for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t sum = 0;
        for (int r = 0; r < comm.size(); ++r) sum += value(r, i, call);
        support::expect(data[i] == sum, "allreduce");
      }
    }
    for (const std::size_t count : {std::size_t{1}, std::size_t{700}}) {
      std::vector<std::uint64_t> out(count * ranks);
      std::vector<std::uint64_t> in(count * ranks);
      for (std::size_t to = 0; to < ranks; ++to)
        for (std::size_t i = 0; i < count; ++i) out[to * count + i] = value(me, i + to, call);
      comm.alltoall(std::span<const std::uint64_t>{out}, std::span{in});
      for (std::size_t from = 0; from < ranks; ++from)
        for (std::size_t i = 0; i < count; ++i)
          support::expect(
              in[from * count + i] == value(static_cast<int>(from), i + static_cast<std::size_t>(me), call),
              "alltoall");
    }
  }
}

/// The history of a run, twice. The registration cache works by pages, so buffers must have the same
/// addresses.
template <class Transport>
std::array<std::string, 2> histories_on(int ranks) {
  return support::by_twins([ranks] {
    std::string history;
    const run_result all = run(ranks, support::test_machine(ranks), [&history](group& g) {
      chorale::communicator<Transport> comm{g, {}};
      use(comm);
      history += std::to_string(g.rank()) + " at " + std::to_string(now().time_since_epoch().count()) + '\n';
    });
    return history + std::to_string(all.elapsed.count()) + " ps, " + std::to_string(all.events) + " events";
  });
}

TEMPLATE_TEST_CASE("Collectives are right in virtual time, and take equal time in two runs", "[stack]",
                   transport::rc, transport::rc_send_receive, transport::ud, transport::ud_rdma,
                   transport::hybrid<2>) {
  for (const int ranks : {1, 2, 3, 5, 8, 16, 33}) {
    if (support::instrumented && ranks > 16) continue;
    INFO(ranks << " ranks");
    const auto histories = histories_on<TestType>(ranks);
    CHECK_THAT(histories[0], EndsWith(" events"));
    CHECK(histories[0] == histories[1]);
  }
}

}  // namespace
