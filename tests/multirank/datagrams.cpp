// SPDX-License-Identifier: Apache-2.0
// Every collective and windows of processes on the transports that retransmit lost datagrams, compared with a
// serial computation. Usage: datagrams [ud_rdma|hybrid|mixed]...; without names all of them.
// CHORALE_TEST_SEED: determines sizes, roots and forms; CHORALE_TEST_BUDGET: the share of the checks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/ud_rdma.hpp>

#include "../support/collectives/checks.hpp"
#include "../support/seed.hpp"
#include "../support/windows.hpp"
#include "budget.hpp"
#include "engine_report.hpp"

using namespace collectives;
using namespace chorale::transport;

namespace {

/// Algorithms that `standard` does not contain, or chooses for few sizes only.
using mixed_algorithms =
    chorale::communicator<hybrid<2>, chorale::barrier::pairwise_exchange, chorale::broadcast::flat,
                          chorale::reduce::degree_k<1>, chorale::allreduce::degree_k<7>,
                          chorale::allgather::bruck, chorale::alltoall::direct, chorale::gather::flat,
                          chorale::scatter::flat, chorale::reduce_scatter::recursive_halving>;

/// One call of each operation, with roots and forms determined by `seed`.
template <class Comm>
class round_of_calls {
 public:
  round_of_calls(Comm& comm, std::uint64_t seed) : comm_(comm), seed_(seed) {}

  void reductions(std::size_t bytes) {
    const std::size_t matrices = bytes / sizeof(triangle);
    const std::size_t share = matrices / static_cast<std::size_t>(comm_.size());
    if (due()) check_reduce<triangle>(comm_, matrices, root(), multiply{}, seed_, vary());
    if (due()) check_allreduce<triangle>(comm_, matrices, multiply{}, seed_, vary());
    if (due()) check_scan<triangle>(comm_, matrices, multiply{}, seed_ % 2 == 0, seed_, vary());
    if (due()) check_reduce_scatter<triangle>(comm_, share, multiply{}, seed_, vary());
    if (due()) check_reduce_scatter_uneven<triangle>(comm_, share, multiply{}, seed_, vary());
  }
  void moves(std::size_t bytes) {
    const std::size_t share = bytes / static_cast<std::size_t>(comm_.size());
    if (due()) check_broadcast<std::byte>(comm_, bytes, root(), seed_, vary());
    if (due()) check_allgather<std::byte>(comm_, share, seed_, vary());
    if (due()) check_allgatherv<std::byte>(comm_, share, seed_, vary());
    if (due()) check_alltoall<std::byte>(comm_, share, seed_, vary());
    if (due()) check_alltoallv<std::byte>(comm_, share, seed_, vary());
    if (due()) check_gather<std::byte>(comm_, share, root(), seed_, vary());
    if (due()) check_gatherv<std::byte>(comm_, share, root(), seed_, vary());
    if (due()) check_scatter<std::byte>(comm_, share, root(), seed_, vary());
    if (due()) check_scatterv<std::byte>(comm_, share, root(), seed_, vary());
  }
  void barriers(int count) {
    for (int i = 0; i < budget_.of(count); ++i) {
      const auto late = noise(seed_, comm_.rank(), static_cast<std::size_t>(i));
      if (late % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds{late / 8 % 2000});
      check_barrier(comm_, vary());
      comm_.barrier();
    }
  }

 private:
  bool due() { return budget_.affords(mixed(++seed_)); }
  int root() { return static_cast<int>(mixed(++seed_) % static_cast<unsigned>(comm_.size())); }
  manner vary() {
    const auto n = mixed(++seed_);
    return {.nonblocking = n % 3 == 0, .in_place = n % 2 == 0, .misalignment = n % 5 == 0 ? n / 64 % 24 : 0};
  }

  Comm& comm_;
  std::uint64_t seed_;
  multirank::budget budget_;
};

template <class Comm>
void report(Comm& comm, std::string_view name) {
  const auto s = comm.transport().statistics();
  const auto all = [&](std::uint64_t mine) { return comm.allreduce(mine, chorale::sum); };
  const auto packets = all(s.packets + s.signals);
  const auto resent = all(s.resent);
  const auto requests = all(s.resend_requests + s.questions);
  const auto connections = comm.allreduce(comm.transport().connections(), chorale::sum);
  if (comm.rank() == 0)
    fmt::print(stderr, "{}: {} packets and signals, {} again, {} requests and questions, {} connections\n",
               name, packets, resent, requests, connections);
}

/// Communicators that ranks end in different orders, or while others are in a call of another one.
template <class Comm>
void end_in_any_order(Comm& comm) {
  for (const bool one_waits : {false, true}) {
    std::optional a{comm.duplicate()};
    std::optional b{comm.duplicate()};
    std::vector<int> values(100, comm.rank());
    a->broadcast(std::span{values}, chorale::root{0});
    b->broadcast(std::span{values}, chorale::root{comm.size() - 1});
    const bool begins_with_a = comm.rank() == 0;
    if (begins_with_a) a.reset();
    if (one_waits) comm.barrier();
    b.reset();
    a.reset();
    comm.barrier();
  }
}

template <class Comm>
void run(std::string_view name, std::uint64_t seed) {
  Comm comm;
  round_of_calls calls{comm, seed};
  const std::size_t block = comm.transport().block_bytes();
  calls.barriers(20);
  // Empty, less than a block, slightly more than a block, several blocks, and sizes that are put or got if
  // supported.
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{8}, block / 2, block + 8, 5 * block, std::size_t{65536}, 40 * block}) {
    calls.moves(bytes);
    calls.reductions(bytes);
  }
  calls.barriers(5);
  if constexpr (chorale::one_sided_transport<typename Comm::transport_type>) {
    windows::all_checks(comm, seed, 1);
    calls.moves(100);
  }
  end_in_any_order(comm);
  report(comm, name);
}

}  // namespace

int main(int count, char** words) try {
  const std::vector<std::string_view> names(words + 1, words + count);
  const auto wanted = [&](std::string_view name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  chorale::communicator<ud_rdma> comm;
  const auto seed = support::common_seed(comm);
  if (wanted("ud_rdma")) run<chorale::communicator<ud_rdma>>("ud_rdma", seed + 1000);
  if (wanted("hybrid")) run<chorale::communicator<hybrid<4>>>("hybrid", seed + 2000);
  if (wanted("mixed")) run<mixed_algorithms>("mixed", seed + 3000);
  multirank::report_engine(comm);
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "datagrams: {}\n", e.what());
  return 1;
}
