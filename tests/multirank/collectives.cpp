// SPDX-License-Identifier: Apache-2.0
// Collectives of processes that a launcher started, against a serial computation.
// Usage: collectives [--largest BYTES] [CHECK...]; without names all checks run.
// CHORALE_TEST_TRANSPORT=rc|ud: on that transport only; CHORALE_TEST_BUDGET: the share of the checks that
// there is time for, 1 by default.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

#include "../support/collectives/checks.hpp"
#include "../support/seed.hpp"
#include "budget.hpp"
#include "engine_report.hpp"

using namespace collectives;
using chorale::transport::rc;
using chorale::transport::ud;

namespace {

template <class Transport>
using standard = chorale::communicator<Transport>;
/// Algorithms that `standard` does not contain, or chooses for few sizes only.
template <class Transport>
using other =
    chorale::communicator<Transport, chorale::barrier::pairwise_exchange, chorale::broadcast::flat,
                          chorale::reduce::degree_k<1>, chorale::allreduce::degree_k<7>,
                          chorale::allgather::bruck, chorale::alltoall::bruck_k<3>, chorale::gather::binomial,
                          chorale::scatter::binomial, chorale::reduce_scatter::recursive_halving>;
/// Algorithms that send blocks step by step, one after another.
template <class Transport>
using stepwise = chorale::communicator<Transport, chorale::allgather::ring, chorale::alltoall::pairwise,
                                       chorale::gather::flat, chorale::scatter::flat>;

/// Multicast algorithms.
template <class Transport>
using multicasting =
    chorale::communicator<Transport, chorale::barrier::gather_multicast<>, chorale::broadcast::multicast,
                          chorale::allreduce::reduce_multicast<7>>;

struct task {
  std::size_t largest = 1 << 20;  ///< bytes of the largest message
  std::vector<std::string_view> names;
  multirank::budget budget;

  [[nodiscard]] bool wants(std::string_view name) const {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  }
};

std::vector<std::size_t> sizes(std::size_t block, std::size_t largest) {
  std::vector<std::size_t> all{0,     1,       7,      8, 100, block - 1, block, block + 1, 9 * block + 13,
                               65536, 1 << 20, largest};
  std::erase_if(all, [&](std::size_t bytes) { return bytes > largest; });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// A random form of the same call on all ranks.
auto variations(std::uint64_t& seed) {
  return [&seed] {
    const auto n = mixed(++seed);
    return manner{
        .nonblocking = n % 3 == 0, .in_place = n % 2 == 0, .misalignment = n % 5 == 0 ? n / 64 % 24 : 0};
  };
}

template <class Comm>
void run(Comm& comm, const task& t, std::uint64_t seed) {
  const auto vary = variations(seed);
  const auto affords = [&] { return t.budget.affords(mixed(++seed)); };
  if (t.wants("barrier")) {
    for (int i = 0; i < t.budget.of(60); ++i) {
      const auto n = noise(seed, comm.rank(), static_cast<std::size_t>(i));
      if (n % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds{n / 16 % 2000});
      check_barrier(comm, vary());
    }
  }
  for (const auto size : sizes(comm.transport().block_bytes(), std::min(t.largest, std::size_t{65536}))) {
    // Every rank is the root of small messages, some of large ones.
    const int step = size <= 100 ? 1 : std::max(1, comm.size() / 2);
    for (int root = 0; root < comm.size(); root += step) {
      if (t.wants("broadcast") && affords()) check_broadcast<std::byte>(comm, size, root, seed, vary());
      if (t.wants("reduce") && affords())
        check_reduce<triangle>(comm, size / sizeof(triangle), root, multiply{}, seed, vary());
    }
    if (t.wants("allreduce") && affords())
      check_allreduce<std::uint64_t>(comm, size / 8, chorale::sum, seed, vary());
    if (t.wants("allreduce") && affords())
      check_allreduce<triangle>(comm, size / sizeof(triangle), multiply{}, seed, vary());
  }
  if (t.wants("wide") && t.largest >= sizeof(wide)) {
    check_allreduce<wide>(comm, 2, multiply_wide{}, seed, vary());
    check_reduce<wide>(comm, 2, comm.size() - 1, multiply_wide{}, seed, vary());
  }
}

/// The operations with a block for each rank.
template <class Comm>
void run_blocks(Comm& comm, const task& t, std::uint64_t seed) {
  const auto vary = variations(seed);
  const auto wants = [&](std::string_view name) { return t.wants(name) && t.budget.affords(mixed(++seed)); };
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::size_t most = std::min(t.largest, std::size_t{65536});
  for (const auto size : sizes(comm.transport().block_bytes(), most)) {
    if (size * ranks > 4 * most) break;
    const auto words = size / sizeof(std::uint64_t);
    const auto matrices = size / sizeof(triangle);
    if (wants("allgather")) check_allgather<std::byte>(comm, size, seed, vary());
    if (wants("allgatherv")) check_allgatherv<std::uint64_t>(comm, words, seed, vary());
    if (wants("alltoall")) check_alltoall<std::byte>(comm, size, seed, vary());
    if (wants("alltoall")) check_alltoall<std::uint64_t>(comm, words, seed, vary());
    if (wants("alltoallv")) check_alltoallv<std::uint64_t>(comm, words, seed, vary());
    if (wants("reduce_scatter")) check_reduce_scatter<triangle>(comm, matrices, multiply{}, seed, vary());
    if (wants("reduce_scatter"))
      check_reduce_scatter_uneven<triangle>(comm, matrices, multiply{}, seed, vary());
    if (wants("scan")) check_scan<triangle>(comm, matrices, multiply{}, true, seed, vary());
    if (wants("exscan")) check_scan<triangle>(comm, matrices, multiply{}, false, seed, vary());
    const int step = size <= 8 ? 1 : std::max(1, comm.size() / 2);
    for (int root = 0; root < comm.size(); root += step) {
      if (wants("gather")) check_gather<std::byte>(comm, size, root, seed, vary());
      if (wants("gatherv")) check_gatherv<std::uint64_t>(comm, words, root, seed, vary());
      if (wants("scatter")) check_scatter<std::byte>(comm, size, root, seed, vary());
      if (wants("scatterv")) check_scatterv<std::uint64_t>(comm, words, root, seed, vary());
    }
  }
}

/// One message of `size` bytes each, of plain numbers, since making and checking the data takes most of the
/// time.
template <class Comm>
void run_large(Comm& comm, const task& t, std::size_t size, std::uint64_t seed) {
  using number = std::uint64_t;
  const int root = comm.size() - 1;
  if (t.wants("broadcast")) check_broadcast<number>(comm, size / 8, root, seed, {.nonblocking = true});
  if (t.wants("reduce")) check_reduce<number>(comm, size / 8, root, chorale::sum, seed, {.in_place = true});
  if (t.wants("allreduce")) check_allreduce<number>(comm, size / 8, chorale::sum, seed, {.in_place = true});
  // The memory of all ranks together stays within a few times the largest message.
  const std::size_t count = size / 8 / static_cast<std::size_t>(comm.size() * comm.size());
  if (t.wants("allgather")) check_allgather<number>(comm, count, seed, {.in_place = true});
  if (t.wants("alltoall")) check_alltoall<number>(comm, count, seed);
  if (t.wants("gather")) check_gather<number>(comm, count, root, seed, {.in_place = true});
  if (t.wants("scatter")) check_scatter<number>(comm, count, root, seed, {.nonblocking = true});
  if (t.wants("reduce_scatter")) check_reduce_scatter<number>(comm, count, chorale::sum, seed);
  if (t.wants("scan")) check_scan<number>(comm, count, chorale::sum, true, seed);
}

template <class Comm>
void run_on(const task& t, std::uint64_t seed) {
  if (!multirank::tests_transport(Comm::transport_type::name)) return;
  Comm comm;
  run(comm, t, seed);
  run_blocks(comm, t, seed);
  if (t.largest >= 1 << 20) run_large(comm, t, 1 << 20, seed);
}

}  // namespace

int main(int count, char** words) try {
  task t;
  for (int i = 1; i < count; ++i) {
    if (std::string_view{words[i]} == "--largest" && i + 1 < count)
      t.largest = std::strtoull(words[++i], nullptr, 0);
    else
      t.names.emplace_back(words[i]);
  }
  standard<rc> comm;
  const auto seed = support::common_seed(comm);
  if (multirank::tests_transport("rc")) {
    run(comm, t, seed);
    run_blocks(comm, t, seed);
    run_large(comm, t, t.largest, seed);
  }
  run_on<other<rc>>(t, seed + 1);
  if (multirank::tests_transport("rc")) {
    stepwise<rc> steps;
    run_blocks(steps, t, seed + 6);
  }
  if (multirank::tests_transport("rc") &&
      comm.allreduce(comm.transport().has_multicast() ? 1 : 0, chorale::min) == 1) {
    multicasting<rc> datagrams;
    run(datagrams, t, seed + 7);
  }
  run_on<standard<ud>>(t, seed + 3);
  // The first communicator still works.
  check_allreduce<triangle>(comm, 1000, multiply{}, seed + 5);
  multirank::report_engine(comm);
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "collectives: {}\n", e.what());
  return 1;
}
