// Trials of algorithms: who serves which call, who wins, and that all ranks find the same.
#include <chrono>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/model/trial.hpp>

using chorale::model::trial;
using chorale::model::trial_limits;
using namespace std::chrono_literals;

namespace {

/// Makes all calls; `time(contender, call)` is what the call of that number takes.
template <class Time>
trial made(std::vector<int> contenders, std::size_t bytes, Time time) {
  trial all{std::move(contenders), bytes};
  for (std::size_t call = 0; !all.is_over(); ++call) all.took(time(all.contender(), call));
  return all;
}

}  // namespace

TEST_CASE("a trial gives all contenders the same number of calls, in turns of which the first is not timed",
          "[trial]") {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{4096}, std::size_t{1} << 30}) {
    std::map<int, int> served;
    std::vector<int> in_order;
    trial all{{7, 3, 5}, bytes};
    const std::size_t calls = all.calls_left();
    while (!all.is_over()) {
      ++served[all.contender()];
      in_order.push_back(all.contender());
      all.took(1ns);
    }
    CHECK(in_order.size() == calls);
    REQUIRE(served.size() == 3);
    CHECK(served[7] == served[3]);
    CHECK(served[7] == served[5]);
    CHECK(in_order.front() == 7);
    const std::size_t turn = calls / (3 * trial::rounds);
    CHECK(turn >= 2);
    for (std::size_t i = 0; i < in_order.size(); ++i) CHECK(in_order[i] == in_order[i / turn * turn]);
    // All but one call of each turn took a nanosecond that counts.
    const auto times = all.times();
    CHECK(std::accumulate(times.begin(), times.end(), std::uint64_t{0}) == calls - calls / turn);
  }
}

TEST_CASE("the contender that takes the least time wins", "[trial]") {
  const auto by_contender = [](int contender, std::size_t) {
    return contender == 4 ? 100ns : contender == 9 ? 80ns : 300ns;
  };
  CHECK(made({1, 4, 9}, 8, by_contender).winner() == 9);
  CHECK(made({9, 4, 1}, 8, by_contender).winner() == 9);
  CHECK(made({1, 4}, 8, by_contender).winner() == 4);
  CHECK(made({1, 4, 9}, 8, by_contender).describe(1, "ring") ==
        "fastest in a trial: 0.08 us a call, where ring took 0.3");
  CHECK(made({9, 4}, 8, by_contender).describe(1, "ring") == "none was faster in a trial: 0.08 us a call");
}

TEST_CASE("the first contender stays where another is faster by less than a twentieth", "[trial]") {
  for (const auto& [second, winner] : {std::pair{960ns, 1}, {951ns, 1}, {940ns, 2}, {1000ns, 1}, {2000ns, 1}})
    CHECK(made({1, 2}, 8, [second = second](int contender, std::size_t) {
            return contender == 1 ? 1000ns : second;
          }).winner() == winner);
}

TEST_CASE("calls that were disturbed in one round do not decide, nor does the first call of a turn",
          "[trial]") {
  CHECK(made({1, 2}, 8, [](int contender, std::size_t call) {
          return contender == 2 && call < 32 ? 1s : contender == 2 ? 500ns : 1000ns;
        }).winner() == 2);
  CHECK(made({1, 2}, 8, [](int contender, std::size_t call) {
          return call % 16 == 0 && contender == 2 ? 1s : contender == 2 ? 500ns : 1000ns;
        }).winner() == 2);
}

TEST_CASE("ranks that add their times up agree, whatever each has measured itself", "[trial]") {
  // On rank 0 contender 1 is faster, on rank 1 contender 2 by more.
  trial zero = made({1, 2}, 8, [](int contender, std::size_t) { return contender == 1 ? 100ns : 200ns; });
  trial one = made({1, 2}, 8, [](int contender, std::size_t) { return contender == 1 ? 900ns : 300ns; });
  CHECK(zero.winner() == 1);
  CHECK(one.winner() == 2);
  for (std::size_t i = 0; i < zero.times().size(); ++i)
    zero.times()[i] = one.times()[i] = zero.times()[i] + one.times()[i];
  CHECK(zero.winner() == 2);
  CHECK(one.winner() == 2);
  CHECK(zero.describe(2, "ring") == one.describe(2, "ring"));
}

TEST_CASE("calls that are not timed leave the choice to the table", "[trial]") {
  CHECK(made({3, 1, 2}, 8, [](int, std::size_t) { return 0ns; }).winner() == 3);
}

TEST_CASE("trials of sizes cover all sizes once", "[trial]") {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  for (const std::size_t first :
       {std::size_t{0}, std::size_t{17}, std::size_t{1} << 20, std::size_t{1} << 40}) {
    for (const std::size_t last : {std::size_t{40}, std::size_t{65536}, std::size_t{1} << 41, all}) {
      if (last < first) continue;
      const auto limits = trial_limits(first, last);
      REQUIRE_FALSE(limits.empty());
      CHECK(limits.front() >= first);
      CHECK(limits.back() == last);
      for (std::size_t i = 1; i < limits.size(); ++i) CHECK(limits[i - 1] < limits[i]);
    }
  }
  CHECK(trial_limits(0, 100) == std::vector<std::size_t>{16, 64, 100});
  CHECK(trial_limits(17, 64) == std::vector<std::size_t>{64});
  CHECK(trial_limits(0, all).size() == 13);
}
