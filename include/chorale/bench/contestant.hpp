// What is measured, and by whom: the interfaces that <chorale/bench.hpp>, chorale-bench and mpi-peers fill.
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

using timer = clock;  ///< What time is read from: virtual time in a simulation.

/// Seconds from `begin` to now.
inline double seconds_since(timer::time_point begin) {
  return std::chrono::duration<double>(timer::now() - begin).count();
}

/// All ranks of the run, for what has to be agreed on besides the measured calls. Collective calls.
class team {
 public:
  virtual ~team() = default;
  [[nodiscard]] virtual int rank() const = 0;  ///< This rank, from 0 on.
  [[nodiscard]] virtual int size() const = 0;  ///< How many ranks there are.
  /// values[i] = sum over all ranks, on every rank.
  virtual void sum(std::span<double> values) = 0;
  /// The largest over all ranks, on every rank.
  virtual double max(double value) = 0;
  double min(double value) { return -max(-value); }  ///< The smallest, likewise.
  /// True if all ranks run on one host, so that they read the same clock. Collective.
  bool one_host();
};

inline bool team::one_host() {
  std::string boot;
  std::ifstream{"/proc/sys/kernel/random/boot_id"} >> boot;
  // 52 bits: exact as a double.
  const auto hash = static_cast<double>(std::hash<std::string>{}(boot) & ((std::uint64_t{1} << 52) - 1));
  return !boot.empty() && max(hash) == min(hash);
}

/// One implementation of one operation. All ranks make the same calls of it.
class contestant {
 public:
  /// What it is called in the table.
  contestant(std::string its_operation, std::string its_algorithm, std::string its_transport)
      : operation(std::move(its_operation)),
        algorithm(std::move(its_algorithm)),
        transport(std::move(its_transport)) {}
  contestant(const contestant&) = delete;
  contestant& operator=(const contestant&) = delete;
  virtual ~contestant() = default;

  const std::string operation;  ///< such as "allreduce"
  const std::string algorithm;  ///< its name in the table
  const std::string transport;  ///< likewise

  /// A barrier, so that all ranks begin a sample together.
  virtual void meet() = 0;
  /// Makes `calls` calls with `bytes` of payload. @returns the seconds that this rank spent in them.
  virtual double run(std::size_t bytes, int calls) = 0;
  /// Calls with known results. @returns what this rank found to be wrong, empty if nothing.
  virtual std::string check(std::size_t bytes, team& all) = 0;
  /// Whether the calls that were made last belong to a trial that is not over, such as those of `automatic`:
  /// warming up goes on until it is. The same on all ranks.
  virtual bool is_trying() { return false; }
};

/// What one look at the clock costs, in seconds: it is taken off where calls are timed one by one.
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

/// Seconds of `calls` calls, one after the other, by one look at the clock before and one after.
template <class Call>
double time_together(int calls, Call&& call) {
  const auto begin = timer::now();
  for (int i = 0; i < calls; ++i) call();
  return seconds_since(begin);
}

/// The same with `meet()` before each call, whose time does not count.
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
