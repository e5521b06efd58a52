// SPDX-License-Identifier: Apache-2.0
// A window: ranks take jobs from a counter that needs no server, and put results where they belong.
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

int main() try {
  chorale::communicator<> comm;
  constexpr std::size_t jobs = 1000;
  const auto result_of = [](std::size_t job) { return std::sqrt(static_cast<double>(job)); };

  // Rank 0 exposes the number of the next job and room for all results; the others expose nothing. It need
  // not do anything for them: their adapters reach its memory.
  const bool owner = comm.rank() == 0;
  auto next = comm.make_window<std::uint64_t>(owner ? 1 : 0);
  auto results = comm.make_window<double>(owner ? jobs : 0);

  std::vector<double> mine;
  mine.reserve(jobs);  // the sources of puts must not move before they are flushed
  for (;;) {
    const std::uint64_t job = next.fetch_and_op(0, 0, std::uint64_t{1}, chorale::sum);
    if (job >= jobs) break;
    mine.push_back(result_of(job));
    results.put(0, job, std::span<const double>{&mine.back(), 1});
  }
  results.fence();

  bool right = true;
  if (owner) {
    for (std::size_t job = 0; job < jobs; ++job) right = right && results.local()[job] == result_of(job);
    fmt::print("{} jobs done by {} ranks, {} of them by rank 0: {}\n", jobs, comm.size(), mine.size(),
               right ? "right" : "WRONG");
  }
  return right ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "06_window: {}\n", e.what());
  return 1;
}
