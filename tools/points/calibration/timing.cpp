// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <chorale/bench/statistics.hpp>

#include "facts.hpp"

namespace points::calibration {

namespace bench = chorale::bench;

namespace {
constexpr int samples = 31;
}  // namespace

double time_of(int calls, const std::function<void(int)>& make) {
  make(calls);  // to warm up
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    const auto begin = bench::timer::now();
    make(calls);
    times.push_back(std::max(0.0, bench::seconds_since(begin) - bench::clock_cost()) / calls);
  }
  return bench::median(std::move(times));
}

double one_way(const job& in, const std::function<void(int)>& rounds) {
  constexpr int calls = 500;
  in.control.barrier();
  const double both = time_of(calls, rounds);
  return in.all.max(in.control.rank() == 0 ? both / 2 : 0);
}

}  // namespace points::calibration
