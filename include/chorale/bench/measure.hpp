// SPDX-License-Identifier: Apache-2.0
// The measurement: contestants alternate sample by sample, so that noise affects all of them alike.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <chorale/bench/contestant.hpp>
#include <chorale/bench/plan.hpp>
#include <chorale/bench/statistics.hpp>

namespace chorale::bench {

/// One line of the result. Times are microseconds of one call. In each sample the ranks' times are averaged;
/// `median` and percentiles are over those averages. `fastest` and `slowest` are the smallest and largest of
/// the ranks' own medians.
struct row {
  std::string operation;        ///< such as "allreduce"
  std::string algorithm;        ///< the contestant's name
  std::string transport;        ///< the contestant's transport
  std::size_t bytes = 0;        ///< of the message, or of one rank's block
  double median = 0;            ///< over the samples
  double p10 = 0;               ///< percentile 10 of the samples
  double p90 = 0;               ///< percentile 90
  double p99 = 0;               ///< percentile 99
  double fastest = 0;           ///< median of the fastest rank
  double slowest = 0;           ///< median of the slowest rank
  double wall = 0;              ///< median of a call with the barrier before it
  int samples = 0;              ///< the number taken
  int calls = 0;                ///< in each sample
  std::optional<double> floor;  ///< one-way latency in us of a flag in shared memory, between samples
  std::optional<int> wrong;     ///< number of ranks that found a wrong result, if checked
};

/// Actions before and between samples.
struct sample_hooks {
  bool check = false;  ///< compare results with known ones before the samples
  /// Returns one sample of the floor in seconds, the one-way latency of a flag in shared memory; called by
  /// all ranks between samples, unless empty.
  std::function<double()> floor;
  /// Called with the errors that a check on this rank found.
  std::function<void(const contestant&, std::size_t bytes, const std::string& wrong)> complain;
};

namespace detail {

/// Wall time of a call including the time between calls, the maximum over all ranks.
inline double wall_time(contestant& one, std::size_t bytes, int calls, team& all) {
  one.meet();
  const auto begin = timer::now();
  one.run(bytes, calls);
  return all.max(seconds_since(begin) / calls);
}

/// After this many calls a contestant is measured even if its trial is still under way.
constexpr int most_calls_of_a_trial = 5000;

/// Warms up and measures how long a call takes. The first calls open connections, and calls of a trial cost
/// more than later ones. The fastest of several attempts counts, since the system occasionally takes cores
/// away for milliseconds.
inline plan prepare(contestant& one, std::size_t bytes, team& all, const limits& l) {
  constexpr int tries = 5;
  one.meet();
  one.run(bytes, 1);
  for (int tried = 0; tried < most_calls_of_a_trial && one.is_trying(); ++tried) one.run(bytes, 1);
  double call = wall_time(one, bytes, 2, all);
  for (int made = 0; made < l.warmup;) {
    const int most = std::max(1, std::min(l.warmup / tries, l.warmup - made));
    const int chunk = static_cast<int>(std::min<double>(most, l.budget / 4 / tries / std::max(call, 1e-9)));
    if (chunk < 1) break;
    call = std::min(call, wall_time(one, bytes, chunk, all));
    made += chunk;
  }
  return plan_for(l, bytes, call);
}

/// The times of one contestant on this rank for each sample, in seconds.
struct spent {
  std::vector<double> in_calls;
  std::vector<double> in_all;
};

/// Microseconds of one call: the samples, each averaged over the ranks.
inline std::vector<double> average(std::vector<double> samples, const plan& p, team& all) {
  all.sum(samples);
  for (double& s : samples) s *= 1e6 / p.calls / all.size();
  return samples;
}

inline row summarize(const contestant& one, std::size_t bytes, const plan& p, const spent& seconds,
                     team& all) {
  const double own = 1e6 / p.calls * median(seconds.in_calls);
  const auto samples = average(seconds.in_calls, p, all);
  row r;
  r.fastest = all.min(own);
  r.slowest = all.max(own);
  r.wall = median(average(seconds.in_all, p, all));
  r.operation = one.operation;
  r.algorithm = one.algorithm;
  r.transport = one.transport;
  r.bytes = bytes;
  r.median = median(samples);
  r.p10 = percentile(samples, 10);
  r.p90 = percentile(samples, 90);
  r.p99 = percentile(samples, 99);
  r.samples = p.samples;
  r.calls = p.calls;
  return r;
}

}  // namespace detail

/// Measures the contestants of one operation at one size. Collective; the rows are valid on every rank.
inline std::vector<row> measure(std::span<contestant* const> of, std::size_t bytes, team& all,
                                const limits& l, const sample_hooks& hooks) {
  std::vector<plan> plans;
  std::vector<std::optional<int>> wrong(of.size());
  int rounds = 0;
  for (std::size_t c = 0; c < of.size(); ++c) {
    if (hooks.check) {
      const std::string found = of[c]->check(bytes, all);
      if (!found.empty() && hooks.complain) hooks.complain(*of[c], bytes, found);
      double ranks = found.empty() ? 0 : 1;
      all.sum({&ranks, 1});
      wrong[c] = static_cast<int>(ranks);
    }
    plans.push_back(detail::prepare(*of[c], bytes, all, l));
    rounds = std::max(rounds, plans.back().samples);
  }
  std::vector<detail::spent> seconds(of.size());
  std::vector<double> floor;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t c = 0; c < of.size(); ++c) {
      if (round >= plans[c].samples) continue;
      // Warms the caches after the previous contestant; a single contestant finds them warm.
      if (of.size() > 1) of[c]->run(bytes, 1);
      of[c]->meet();
      const auto begin = timer::now();
      seconds[c].in_calls.push_back(of[c]->run(bytes, plans[c].calls));
      seconds[c].in_all.push_back(seconds_since(begin));
    }
    if (hooks.floor) {
      of.front()->meet();
      floor.push_back(1e6 * hooks.floor());
    }
  }
  // Only ranks 0 and 1 know the floor; it is zero on the others.
  const double floor_median = hooks.floor ? all.max(median(floor)) : 0;
  std::vector<row> rows;
  for (std::size_t c = 0; c < of.size(); ++c) {
    rows.push_back(detail::summarize(*of[c], bytes, plans[c], seconds[c], all));
    rows.back().wrong = wrong[c];
    if (hooks.floor) rows.back().floor = floor_median;
  }
  return rows;
}

}  // namespace chorale::bench
