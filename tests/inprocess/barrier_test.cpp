// SPDX-License-Identifier: Apache-2.0
// Barriers: no rank leaves before all have entered.
#include <atomic>
#include <vector>

#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "../support/collectives/checks.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::transport::rc;
using chorale::transport::ud;
using collectives::await;
using collectives::mixed;
using collectives::wrong;

namespace {

constexpr int rounds = instrumented ? 50 : 200;

template <class Comm, class Wait>
void race(int size, const chorale::config& c, Wait&& wait) {
  std::vector<std::atomic<int>> came(rounds);
  run_ranks<Comm>(size, c, [&](auto& comm) {
    for (int round = 0; round < rounds; ++round) {
      // Occasionally a rank is late, and the last one very late.
      const auto n = mixed(seed() + static_cast<std::uint64_t>(round * size + comm.rank()));
      if (n % 64 == 0) chorale::clock::sleep_for(std::chrono::microseconds{n / 64 % 1500});
      auto& counter = came[static_cast<std::size_t>(round)];
      counter.fetch_add(1, std::memory_order_relaxed);
      wait(comm, round);
      if (const int seen = counter.load(std::memory_order_relaxed); seen != comm.size())
        throw wrong("barrier " + std::to_string(round) + ": left when " + std::to_string(seen) + " had come");
    }
  });
}

}  // namespace

TEMPLATE_TEST_CASE("nobody leaves a barrier before everyone has come", "[barrier]", standard<rc>,
                   degree_1<rc>, degree_3<rc>, standard<ud>, degree_7<ud>) {
  for (const int size : {1, 2, 3, 5, 8, 13, 17}) {
    if (too_large(size)) continue;
    race<TestType>(size, settings(), [](auto& comm, int) { comm.barrier(); });
  }
}

TEMPLATE_TEST_CASE("nor one that is waited for later", "[barrier]", degree_1<rc>, degree_7<ud>) {
  for (const int size : {2, 3, 7, 8}) {
    race<TestType>(size, settings(), [](auto& comm, int round) {
      auto pending = comm.ibarrier();
      if (round % 2 == 0)
        pending.wait();
      else
        await(std::move(pending));
    });
  }
}
