// SPDX-License-Identifier: Apache-2.0
// The interfaces of contestants and teams, implemented by <chorale/bench.hpp>, chorale-bench and mpi-peers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include <chorale/core/clock.hpp>

namespace chorale::bench {

using timer = clock;  ///< The clock: virtual time in a simulation.

/// Seconds from `begin` to now.
inline double seconds_since(timer::time_point begin) {
  return std::chrono::duration<double>(timer::now() - begin).count();
}

/// All ranks of the run, which agree on values outside the measured calls. All calls are collective.
class team {
 public:
  virtual ~team() = default;
  [[nodiscard]] virtual int rank() const = 0;  ///< This rank, from 0.
  [[nodiscard]] virtual int size() const = 0;  ///< The number of ranks.
  /// values[i] = sum over all ranks, on every rank.
  virtual void sum(std::span<double> values) = 0;
  /// The maximum over all ranks, on every rank.
  virtual double max(double value) = 0;
  double min(double value) { return -max(-value); }  ///< The minimum over all ranks, on every rank.
  /// True if all ranks run on one host and so read the same clock. Collective.
  bool one_host();
};

inline bool team::one_host() {
  std::string boot;
  std::ifstream{"/proc/sys/kernel/random/boot_id"} >> boot;
  // 52 bits: exact as a double.
  const auto hash = static_cast<double>(std::hash<std::string>{}(boot) & ((std::uint64_t{1} << 52) - 1));
  return !boot.empty() && max(hash) == min(hash);
}

/// One implementation of one operation. All ranks make the same calls.
class contestant {
 public:
  /// The arguments are the names shown in the table.
  contestant(std::string its_operation, std::string its_algorithm, std::string its_transport)
      : operation(std::move(its_operation)),
        algorithm(std::move(its_algorithm)),
        transport(std::move(its_transport)) {}
  contestant(const contestant&) = delete;
  contestant& operator=(const contestant&) = delete;
  virtual ~contestant() = default;

  const std::string operation;  ///< such as "allreduce"
  const std::string algorithm;  ///< such as "ring"
  const std::string transport;  ///< such as "rc"

  /// A barrier, so that all ranks begin a sample together.
  virtual void meet() = 0;
  /// Makes `calls` calls with `bytes` of payload. @returns the seconds that this rank spent in them.
  virtual double run(std::size_t bytes, int calls) = 0;
  /// Makes calls with known results. @returns the errors that this rank found; empty if there were none.
  virtual std::string check(std::size_t bytes, team& all) = 0;
  /// Whether the last calls belong to a trial that is still under way, such as one of `automatic`; warming up
  /// continues until it is over. The same on all ranks.
  virtual bool is_trying() { return false; }
};

/// The cost of reading the clock once, in seconds; subtracted where calls are timed one by one.
inline double clock_cost() {
  static const double cost = [] {
    constexpr int looks = 2000;
    double best = 1;
    for (int round = 0; round < 10; ++round) {
      const auto begin = timer::now();
      for (int i = 0; i < looks; ++i) static_cast<void>(timer::now());
      best = std::min(best, seconds_since(begin) / looks);
    }
    return best;
  }();
  return cost;
}

/// Seconds taken by `calls` consecutive calls, reading the clock once before and once after all of them.
template <class Call>
double time_together(int calls, Call&& call) {
  const auto begin = timer::now();
  for (int i = 0; i < calls; ++i) call();
  return seconds_since(begin);
}

/// The same with `meet()` before each call, excluding the time of `meet()`.
template <class Call, class Meet>
double time_apart(int calls, Call&& call, Meet&& meet) {
  const double cost = clock_cost();
  double sum = 0;
  for (int i = 0; i < calls; ++i) {
    meet();
    const auto begin = timer::now();
    call();
    sum += seconds_since(begin) - cost;
  }
  return sum;
}

}  // namespace chorale::bench
