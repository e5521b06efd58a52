// SPDX-License-Identifier: Apache-2.0
// Order statistics of samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace chorale::bench {

/// The smallest sample that is at least as large as `percent` of all samples (nearest rank); 0 if there are
/// none.
inline double percentile(std::vector<double> samples, double percent) {
  if (samples.empty()) return 0;
  const double position = std::ceil(percent / 100 * static_cast<double>(samples.size()));
  const auto index = static_cast<std::size_t>(std::max(1.0, position)) - 1;
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(std::min(index, samples.size() - 1));
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

/// The middle sample, or the mean of the two in the middle; 0 if there are none.
inline double median(std::vector<double> samples) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const auto half = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
}

}  // namespace chorale::bench
