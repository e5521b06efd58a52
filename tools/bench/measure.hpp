// The measurement: contestants take turns sample by sample, so that what disturbs one disturbs all.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "contestant.hpp"
#include "plan.hpp"

namespace bench {

/// One line of the result. Times are microseconds of one call. In each sample the ranks' times are averaged;
/// `median` and percentiles are over those averages. `fastest` and `slowest` are the smallest and largest of
/// the ranks' own medians.
struct row {
  std::string operation;
  std::string algorithm;
  std::string transport;
  std::size_t bytes = 0;
  double median = 0;
  double p10 = 0;
  double p90 = 0;
  double p99 = 0;
  double fastest = 0;
  double slowest = 0;
  double wall = 0;  ///< median of all that a call took, the barrier before it included
  int samples = 0;
  int calls = 0;                ///< in each sample
  std::optional<double> floor;  ///< microseconds one way of the flag, measured between these samples
  std::optional<int> wrong;     ///< ranks that found a wrong result, if they looked
};

/// What happens around the samples.
struct surroundings {
  bool check = false;
  /// One sample of the flag floor in seconds, if there is one; called by all ranks between samples.
  std::function<double()> floor;
  /// Told what a check of this rank found.
  std::function<void(const contestant&, std::size_t bytes, const std::string& wrong)> complain;
};

/// Measures the contestants of one operation at one size. Collective; the rows are right on every rank.
std::vector<row> measure(std::span<contestant* const> of, std::size_t bytes, team& all, const limits& l,
                         const surroundings& around);

}  // namespace bench
