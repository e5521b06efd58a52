// SPDX-License-Identifier: Apache-2.0
// Dependencies in calls of a few bytes: a rank that only sends does not wait, and no rank waits for one that
// sends it nothing.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <chorale/transport/rc.hpp>

#include "../support/collectives/checks.hpp"
#include "ranks.hpp"

using namespace inprocess;
using collectives::wrong;
using comm_type = chorale::communicator<chorale::transport::rc>;

namespace {

/// Runs `call(comm)` on the ranks one after another: each begins when `order[i - 1]` has ended its call, so
/// that a rank that waits for a later one would wait until the deadline. All ranks are connected beforehand.
template <class Call>
void one_after_the_other(int size, const std::vector<int>& order, const Call& call) {
  std::atomic<int> over{0};
  chorale::config c = settings();
  // In the last call of a trial all ranks wait for each other.
  c.trials = chorale::trial_policy::off;
  run_ranks<comm_type>(size, c, [&](comm_type& comm) {
    call(comm);
    comm.barrier();
    int turn = 0;
    while (order[static_cast<std::size_t>(turn)] != comm.rank()) ++turn;
    support::await("its turn has come", [&] { return over == turn; });
    // Two messages per call: less than half a mailbox in total, so that no sender waits for a block.
    for (std::size_t i = 0; i < comm.transport().blocks() / 5; ++i) call(comm);
    ++over;
    comm.barrier();
  });
}

std::vector<int> upwards(int size) {
  std::vector<int> order;
  for (int r = 0; r < size; ++r) order.push_back(r);
  return order;
}
std::vector<int> downwards(int size) {
  const auto order = upwards(size);
  return {order.rbegin(), order.rend()};
}

void compare(const char* what, std::int64_t is, std::int64_t wanted) {
  if (is != wanted)
    throw wrong(std::string(what) + ": " + std::to_string(is) + " where " + std::to_string(wanted) +
                " is right");
}

}  // namespace

TEST_CASE("a rank of a scan waits only for lower ranks", "[order]") {
  for (const int size : {1, 2, 3, 5, 7}) {
    if (too_large(size)) continue;
    one_after_the_other(size, upwards(size), [](comm_type& comm) {
      const std::int64_t r = comm.rank();
      compare("scan", comm.scan(r + 1, chorale::sum), (r + 1) * (r + 2) / 2);
      compare("exscan", comm.exscan(r + 1, chorale::initial{0}, chorale::sum), r * (r + 1) / 2);
    });
  }
}

TEST_CASE("the root of a broadcast or scatter does not wait, and no other rank waits for a later one",
          "[order]") {
  for (const int size : {1, 2, 3, 5, 7}) {
    if (too_large(size)) continue;
    one_after_the_other(size, upwards(size), [](comm_type& comm) {
      std::int32_t value = comm.rank() == 0 ? 41 : 0;
      comm.broadcast(std::span{&value, 1}, chorale::root{0});
      compare("broadcast", value, 41);
      std::vector<std::int32_t> all(comm.rank() == 0 ? static_cast<std::size_t>(comm.size()) : 0);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(3 * i);
      std::int32_t mine = -1;
      comm.scatter(all, std::span{&mine, 1}, chorale::root{0});
      compare("scatter", mine, 3 * comm.rank());
    });
  }
}

TEST_CASE("a rank of a gather or reduce waits for no earlier one, with the root last", "[order]") {
  for (const int size : {1, 2, 3, 5, 7}) {
    if (too_large(size)) continue;
    one_after_the_other(size, downwards(size), [](comm_type& comm) {
      const std::int64_t r = comm.rank();
      const std::int64_t n = comm.size();
      const auto sum = comm.reduce(r + 1, chorale::sum, chorale::root{0});
      if (sum) compare("reduce", *sum, n * (n + 1) / 2);
      std::vector<std::int64_t> all(r == 0 ? static_cast<std::size_t>(n) : 0);
      const std::int64_t mine = 5 * r;
      comm.gather(std::span{&mine, 1}, all, chorale::root{0});
      for (std::size_t i = 0; i < all.size(); ++i)
        compare("gather", all[i], 5 * static_cast<std::int64_t>(i));
    });
  }
}
