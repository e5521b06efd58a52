// What is drawn of results: for each operation its curves, of time and of bandwidth over the size.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "result.hpp"

namespace bench {

/// A row as it is drawn and shown in tables.
struct mark {
  double bytes = 0;
  double time = 0;  ///< microseconds of one call
  double low = 0;   ///< 10th percentile, or the time where there is none
  double high = 0;  ///< 90th percentile, or the time
  const row* of = nullptr;
};

struct curve {
  std::string name;  ///< what tells it from the others of the strip
  std::vector<mark> marks;
};

/// The curves of one operation on one number of ranks.
struct strip {
  std::string title;
  bool with_barrier = false;  ///< times include the barrier before each call
  bool sized = true;          ///< false of a barrier, which has no bytes
  std::vector<curve> curves;
  /// What cannot be drawn where axes are logarithmic, in words.
  std::vector<std::string> left_out;
};

/// In the order in which they were measured. Where ranks outnumber cores, times of calls with a root are
/// those with their barrier: a rank that waits in the barrier for a core finds its message there when it gets
/// one, so that the call alone would seem to cost nothing. They point into `all`.
std::vector<strip> strips_of(const std::vector<named_result>& all);

/// Megabytes (10^6 bytes) a second of a call of so many bytes.
inline double bandwidth(double bytes, double microseconds) {
  return bytes / microseconds;
}

/// 64 KiB, 1000 B: the largest unit that divides it.
std::string size_text(double bytes);

/// What the bars of these results are, where a program says that they are not percentiles.
std::optional<std::string> bars_of(const std::vector<named_result>& all);

/// What is said of a result in one line: library, ranks, device.
std::string line_about(const named_result& one);

}  // namespace bench
