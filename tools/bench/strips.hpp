// The curves of results: for each operation, time and bandwidth over the size.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "result.hpp"

namespace bench {

/// A row as drawn, and as shown in tables.
struct mark {
  double bytes = 0;
  double time = 0;  ///< microseconds of one call
  double low = 0;   ///< 10th percentile, or the time if there is none
  double high = 0;  ///< 90th percentile, or the time
  const row* of = nullptr;
};

struct curve {
  std::string name;  ///< distinguishes it within the strip
  std::vector<mark> marks;
};

/// The curves of one operation on one number of ranks.
struct strip {
  std::string title;
  bool with_barrier = false;  ///< times include the barrier before each call
  bool sized = true;          ///< false for a barrier, which has no bytes
  std::vector<curve> curves;
  /// Descriptions of values that cannot be drawn on logarithmic axes.
  std::vector<std::string> left_out;
};

/// In the order of measurement. If ranks outnumber cores, times of calls with a root include their barrier: a
/// rank that waits in the barrier for a core finds its message already there, so that the call alone would
/// seem to cost nothing. The strips point into `all`.
std::vector<strip> strips_of(const std::vector<named_result>& all);

/// Bandwidth of a call in megabytes (10^6 bytes) per second.
inline double bandwidth(double bytes, double microseconds) {
  return bytes / microseconds;
}

/// Formats a size with the largest unit that divides it: 64 KiB, 1000 B.
std::string size_text(double bytes);

/// The meaning of the bars, if a program has stated that they are not percentiles.
std::optional<std::string> bars_of(const std::vector<named_result>& all);

/// One line about a result: library, ranks, device.
std::string line_about(const named_result& one);

}  // namespace bench
