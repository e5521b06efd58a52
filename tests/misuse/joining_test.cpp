// SPDX-License-Identifier: Apache-2.0
// Bootstraps that return invalid values, a rank that cannot join, and a handler of stall reports that makes
// calls or throws.
#include <atomic>
#include <thread>

#include <chorale/bootstrap/in_process.hpp>

#include "harness.hpp"

using chorale::errc;
using namespace std::chrono_literals;

namespace {

/// A user's bootstrap with given answers.
struct own_bootstrap {
  int my_rank = 0;
  int ranks = 1;
  std::size_t cards = 1;

  [[nodiscard]] int rank() const { return my_rank; }
  [[nodiscard]] int size() const { return ranks; }
  [[nodiscard]] std::string job() const { return "own"; }
  [[nodiscard]] std::string describe() const { return "a bootstrap of the test"; }
  [[nodiscard]] chorale::bootstrap::cards exchange(std::span<const std::byte> mine,
                                                   std::chrono::milliseconds) const {
    return {cards, {mine.begin(), mine.end()}};
  }
};

}  // namespace

TEMPLATE_TEST_CASE("a bootstrap that tells nonsense is an error", "[misuse]", MISUSE_TRANSPORTS) {
  for (const own_bootstrap& group :
       {own_bootstrap{0, 0, 0}, own_bootstrap{0, -1, 1}, own_bootstrap{-1, 2, 2}, own_bootstrap{2, 2, 2},
        own_bootstrap{0, 2, 1}, own_bootstrap{0, 1, 0}, own_bootstrap{0, 1, 2}}) {
    INFO("rank " << group.my_rank << " of " << group.ranks << ", " << group.cards << " cards");
    support::refused(errc::bootstrap_failed, {"bootstrap"}, [&] {
      chorale::communicator<TestType>{group, misuse::settings()};
    });
  }
}

TEMPLATE_TEST_CASE("a rank that cannot join is named to all", "[misuse]", MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    std::vector<std::optional<chorale::error>> seen(static_cast<std::size_t>(size));
    chorale::bootstrap::run_in_process(size, [&](auto& group) {
      auto c = misuse::settings();
      if (group.rank() == 1) c.device = "nosuch7";
      seen[static_cast<std::size_t>(group.rank())] = support::error_of([&] {
        chorale::communicator<TestType>{group, c};
      });
    });
    for (std::size_t r = 0; r < seen.size(); ++r) {
      REQUIRE(seen[r]);
      INFO("rank " << r << ": " << seen[r]->what());
      CHECK(seen[r]->code() == (r == 1 ? errc::no_device : errc::bootstrap_failed));
      CHECK(std::string{seen[r]->what()}.find("rank 1 of " + std::to_string(size)) != std::string::npos);
      CHECK(std::string{seen[r]->what()}.find("nosuch7") != std::string::npos);
      CHECK(seen[r]->ranks() == std::vector<int>{1});
    }
  }
}

TEMPLATE_TEST_CASE("stall reports go to the handler, which may not call the communicator", "[misuse]",
                   MISUSE_TRANSPORTS) {
  std::atomic<int> reports{0};
  std::atomic<int> refusals{0};
  std::atomic<bool> about_1{true};
  chorale::bootstrap::run_in_process(4, [&](auto& group) {
    auto c = misuse::settings();
    c.deadline = 0ms;
    c.stall = 100ms;
    chorale::communicator<TestType>* mine = nullptr;
    c.on_stall = [&](const chorale::stall_report& report) {
      // On a busy machine the barriers may stall for other reasons.
      if (report.text.find("rank 1 computes") == std::string::npos) return;
      ++reports;
      if (report.others.size() != 3) about_1 = false;
      const auto e = support::error_of([&] { mine->barrier(); });
      if (e && e->code() == errc::misuse) ++refusals;
    };
    chorale::communicator<TestType> comm{group, c};
    mine = &comm;
    comm.barrier();
    if (comm.rank() == 1) support::await("three reports have come", [&] { return reports >= 3; });
    comm.barrier();
  });
  CHECK(reports >= 3);
  CHECK(refusals == reports);
  CHECK(about_1);
}
