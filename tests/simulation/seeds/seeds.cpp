// SPDX-License-Identifier: Apache-2.0
// Whole runs of the library in virtual time, each drawn from a seed with its faults.
//
//   CHORALE_TEST_SEED=X CHORALE_TEST_SEEDS=N seeds
//
// runs the seeds X (1) to X + N - 1, which are reproducible: a seed that has passed fails only after a
// change. A failure is printed with its schedule and its history.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <malloc.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "../../support/twins.hpp"
#include "printed.hpp"
#include "schedule.hpp"
#include "whole_run.hpp"

namespace {

/// Memory of killed ranks is never freed, and a crash must not end the other runs: so a child process makes
/// this many runs.
constexpr std::uint64_t runs_of_a_child = 250;
/// One seed of this many is run twice.
constexpr std::uint64_t runs_of_a_pair = 100;
constexpr std::uint64_t default_seeds = 1700;
/// The program ends after this many failures, and after one more for each `runs_of_a_failure` seeds.
constexpr std::uint64_t least_failures_to_end = 20;
constexpr std::uint64_t runs_of_a_failure = 5'000;
/// Long campaigns report their progress after this many.
constexpr std::uint64_t runs_of_a_line = 10'000;
constexpr unsigned seconds_of_a_run = 300;

/// The counts of children, in memory that they share with their parent.
struct tally {
  std::uint64_t seed;  ///< the running seed
  std::uint64_t events;
  std::uint64_t runs;
  std::uint64_t with_faults;
  std::uint64_t well;
  std::uint64_t failed;
};

tally& shared_tally() {
  void* const memory =
      mmap(nullptr, sizeof(tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return *new (memory) tally{};
}

/// Runs the seeds from `first` to `end` - 1 in this process until one fails, and returns its errors.
std::string run_some(std::uint64_t first, std::uint64_t end, tally& all, const seeds::printed& errors) {
  errors.redirect();
  for (std::uint64_t seed = first; seed < end; ++seed) {
    all.seed = seed;
    alarm(seconds_of_a_run);
    const seeds::verdict v = seeds::run_seed(seed, errors);
    ++all.runs;
    all.events += v.events;
    all.with_faults += v.had_faults ? 1 : 0;
    all.well += static_cast<std::uint64_t>(v.ended_well);
    all.failed += static_cast<std::uint64_t>(v.failed);
    if (!v.complaint.empty()) return v.complaint;
  }
  return {};
}

std::string run_alone(std::uint64_t first, std::uint64_t end, tally& all) {
  const seeds::printed errors;
  const std::string text =
      support::finish(support::start_twin([&] { return run_some(first, end, all, errors); }));
  return text + errors.take();
}

/// Reports the failure of seed `all.seed`, which was run after others from `first` on.
void report(std::string text, std::uint64_t first, tally& all) {
  const std::uint64_t seed = all.seed;
  if (text.compare(0, 5, "seed ") != 0) text = describe(seeds::draw(seed)) + text;
  std::cout << text;
  tally again = all;
  if (seed == first || !run_alone(seed, seed + 1, again).empty())
    std::cout << fmt::format("FAILED: again with CHORALE_TEST_SEED={} CHORALE_TEST_SEEDS=1\n", seed);
  else
    std::cout << fmt::format(
        "FAILED, and not where it is run alone: again with CHORALE_TEST_SEED={} CHORALE_TEST_SEEDS={}\n",
        first, seed - first + 1);
  std::cout << std::flush;
}

/// Whether two processes have the same history of a seed.
bool is_repeated(std::uint64_t seed) {
  const seeds::printed errors;
  const auto both = support::by_twins([seed, &errors] {
    errors.redirect();
    alarm(seconds_of_a_run);
    return seeds::run_seed(seed, errors).digest;
  });
  if (both[0] == both[1]) return true;
  std::cout << describe(seeds::draw(seed)) << "Two runs of it differ: " << both[0] << " and " << both[1]
            << fmt::format("\nFAILED: again with CHORALE_TEST_SEED={} CHORALE_TEST_SEEDS=1\n", seed)
            << std::flush;
  return false;
}

/// The next run reuses the memory that this one has freed: otherwise the system's handling of pages is a
/// third of the time of small runs.
void keep_freed_memory() {
  constexpr int more_than_is_kept = 1 << 28;
  mallopt(M_MMAP_THRESHOLD, more_than_is_kept);
  mallopt(M_TRIM_THRESHOLD, more_than_is_kept);
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::string summary(const tally& all, int failures) {
  return fmt::format(
      "{} runs, {} with ranks or adapters that fail: {} ranks ended well, {} by an error; {} events, "
      "{:.1f} s of processor time; {} failures",
      all.runs, all.with_faults, all.well, all.failed, all.events, processor_seconds(), failures);
}

}  // namespace

int main() {
  const char* const wanted = std::getenv("CHORALE_TEST_SEEDS");
  const std::uint64_t count = wanted != nullptr ? std::strtoull(wanted, nullptr, 0) : default_seeds;
  const char* const from = std::getenv("CHORALE_TEST_SEED");
  const std::uint64_t first = from != nullptr ? std::strtoull(from, nullptr, 0) : 1;
  const std::uint64_t end = first + count;
  const auto most_failures = static_cast<int>(least_failures_to_end + count / runs_of_a_failure);
  keep_freed_memory();
  tally& all = shared_tally();
  int failures = 0;
  for (std::uint64_t next = first; next < end && failures < most_failures;) {
    const std::uint64_t begin = next;
    const std::uint64_t last = std::min(end, next + runs_of_a_child);
    const std::string text = run_alone(next, last, all);
    if (!text.empty()) {
      ++failures;
      report(text, next, all);
      next = all.seed + 1;
    } else {
      next = last;
    }
    if (next / runs_of_a_line != begin / runs_of_a_line && next < end)
      std::cout << fmt::format("before seed {}: {}\n", next, summary(all, failures)) << std::flush;
  }
  for (std::uint64_t seed = first; seed < end && failures < most_failures; seed += runs_of_a_pair)
    failures += is_repeated(seed) ? 0 : 1;
  std::cout << summary(all, failures) << '\n';
  return failures == 0 ? 0 : 1;
}
