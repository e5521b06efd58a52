// SPDX-License-Identifier: Apache-2.0
// Sizes, warm-up and number of calls per sample. Shared by <chorale/bench.hpp>, chorale-bench and mpi-peers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace chorale::bench {

/// Set by the command line.
struct limits {
  std::size_t min_bytes = 4;                     ///< smallest size
  std::size_t max_bytes = std::size_t{1} << 20;  ///< largest size
  std::vector<std::size_t> sizes;                ///< if not empty, exactly these sizes
  int iterations = 10'000;    ///< calls of one contestant at one size, fewer for long or slow ones
  int samples = 100;          ///< number of samples into which the calls are divided
  int warmup = 200;           ///< calls before the first sample, at most
  double budget = 0.25;       ///< seconds for one contestant at one size
  bool back_to_back = false;  ///< no barrier between consecutive calls with a root
};

/// min_bytes, doubled repeatedly up to max_bytes.
inline std::vector<std::size_t> sizes(std::size_t min_bytes, std::size_t max_bytes) {
  std::vector<std::size_t> all;
  for (std::size_t bytes = std::max<std::size_t>(1, min_bytes); bytes <= max_bytes; bytes *= 2) {
    all.push_back(bytes);
    if (bytes > max_bytes / 2) break;
  }
  return all;
}

/// The sizes for an operation: a barrier has no payload, and all operations but broadcast use whole floats.
inline std::vector<std::size_t> sizes_of(const std::string& operation, const limits& l) {
  if (operation == "barrier") return {0};
  auto all = l.sizes.empty() ? sizes(l.min_bytes, l.max_bytes) : l.sizes;
  if (operation == "broadcast") return all;
  for (auto& bytes : all) bytes = bytes / sizeof(float) * sizeof(float);
  all.erase(std::remove(all.begin(), all.end(), std::size_t{0}), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// The number of calls of one contestant at one size.
struct plan {
  int samples = 0;  ///< number of samples
  int calls = 0;    ///< in each sample
};

/// A plan for calls of `bytes` that take `seconds` each: as many calls as the budget allows, but at most
/// `iterations` (above 8 KiB proportionally fewer), and at least five samples of one call.
inline plan plan_for(const limits& l, std::size_t bytes, double seconds) {
  constexpr double short_bytes = 8192;
  constexpr int least_samples = 5;
  const double shrink = std::min(1.0, short_bytes / static_cast<double>(std::max<std::size_t>(1, bytes)));
  const double affordable = l.budget / std::max(seconds, 1e-9);
  const double calls = std::max(1.0, std::min(l.iterations * shrink, affordable));
  plan p;
  p.samples =
      std::max(std::min(least_samples, l.samples), static_cast<int>(std::min<double>(l.samples, calls)));
  p.calls = std::max(1, static_cast<int>(calls / p.samples));
  return p;
}

}  // namespace chorale::bench
